/* theme.js - light or dark, as it was chosen here the last time. */

const KEPT = 'diurnal-theme', root = document.documentElement;

export const theme = () => root.dataset.theme || '';

/* '': as the system has it. */
function apply(wanted) {
    if (wanted === 'light' || wanted === 'dark') root.dataset.theme = wanted;
    else delete root.dataset.theme;
}
export function chooseTheme(wanted) {
    apply(wanted);
    try { localStorage.setItem(KEPT, wanted); } catch { /* for this page, then */ }
}
export function restoreTheme() {
    try { apply(localStorage.getItem(KEPT)); } catch { /* a browser that keeps nothing goes by the system */ }
}
