/* theme.js - light or dark, as it was chosen here the last time; before the first thing is drawn. */
'use strict';
try {
    const theme = localStorage.getItem('diurnal-theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch { /* a browser that keeps nothing goes by the system */ }
