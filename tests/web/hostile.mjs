/* hostile.mjs - texts that have meant something to one page or another, as ids: at most 128 bytes each, no control
 * characters, no spaces at the ends. What they would do sets window.hurt, or opens a dialog. */
const DO = ['hurt=1', 'alert(1)', 'top.hurt=1', 'parent.hurt=1'];
const ELEMENTS = [
    '<script>$</script>', '</script><script>$</script>', '<img src=x onerror=$>', '<svg onload=$>', '<svg><script>$</script></svg>', '"><img src=x onerror=$>', "'><svg onload=$>",
    '<body onload=$>', '<iframe srcdoc="<script>$</script>">', '<iframe src="javascript:$">', '<a href="javascript:$">a</a>', '<object data="javascript:$">', '<embed src="javascript:$">',
    '<details open ontoggle=$>', '<input autofocus onfocus=$>', '<select autofocus onfocus=$>', '<video><source onerror=$></video>', '<audio src=x onerror=$>', '<marquee onstart=$>',
    '<math><mtext><img src=x onerror=$></mtext></math>', '<template><script>$</script></template>', '<style>@import "javascript:$"</style>', '<link rel=stylesheet href="javascript:$">',
    '<meta http-equiv=refresh content="0;javascript:$">', '<base href="javascript:$//">', '<form action="javascript:$"><button>', '<button formaction="javascript:$">', '--><script>$</script><!--',
    '*/</style><script>$</script>', '{{constructor.constructor("$")()}}', '${$}', '`;$;`', '";$;//', "';$;//", '\\";$;//', '</title><script>$</script>', '</textarea><script>$</script>',
    '<noscript><p title="</noscript><img src=x onerror=$>">', '<p style="x:expression($)">', '<x onclick=$ autofocus tabindex=1 onfocus=$>', '" autofocus onfocus="$', "' onmouseover='$", 'javascript:$', 'data:text/html,<script>$</script>',
];
const OTHERS = [
    '__proto__', 'constructor', 'hasOwnProperty', 'toString', '../../etc/passwd', '..', '.', '%2e%2e%2f', '%00', '%', '%zz', 'a%20b', 'a+b', 'a&b=c', 'a?b#c', '#/users/x', '#ticket=x', 'a/b/c', '//evil.example/x', 'a\\b',
    'null', 'undefined', 'NaN', '0', '-1', 'true', '[]', '{}', '&lt;b&gt;', '&#60;script&#62;', '&amp;', '\u202eabc\u202c', '\u2066x\u2069', '\u200b', '\ufeffx', 'é', 'e\u0301', '日本語', '🙂'.repeat(30), '\u{1F468}\u200d\u{1F469}\u200d\u{1F467}', 'ﷺ'.repeat(20),
    'W'.repeat(128), 'i'.repeat(128), 'مرحبا بالعالم', 'שלום', '=HYPERLINK("http://evil.example")', '@SUM(1)', '+1', "' or 1=1 --", '"; drop table users; --', '$(hurt)', '`hurt`', '|hurt', ';hurt', 'hurt\u2028hurt=1', 'a\u00a0b', 'x'.repeat(60) + ' ' + 'y'.repeat(60),
];

export const hostile = [...ELEMENTS.flatMap((text) => DO.map((what) => text.replaceAll('$', what))), ...OTHERS].filter((text) => new TextEncoder().encode(text).length <= 128);
