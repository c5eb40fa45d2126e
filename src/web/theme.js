/* theme.js - light or dark, as last chosen in this browser. */

const KEPT = 'diurnal-theme', root = document.documentElement;

export const theme = () => root.dataset.theme || '';

/* '': as the system is set. */
function apply(wanted) {
    if (wanted === 'light' || wanted === 'dark') root.dataset.theme = wanted;
    else delete root.dataset.theme;
}
export function chooseTheme(wanted) {
    apply(wanted);
    try { localStorage.setItem(KEPT, wanted); } catch { /* the choice lasts for this page */ }
}
export function restoreTheme() {
    try { apply(localStorage.getItem(KEPT)); } catch { /* without storage the system's setting applies */ }
}
