// Run in a page by pages_test.py: what is wrong with it, as a list of texts.
(() => {
  const wrong = [];
  const say = (what, element) => wrong.push(what + ': ' + element.outerHTML.slice(0, 120));
  if (document.scrollingElement.scrollWidth > innerWidth) {
    wrong.push('the page scrolls sideways: ' + document.scrollingElement.scrollWidth + ' of ' + innerWidth);
    for (const one of document.querySelectorAll('main *, header *, footer *')) {
      if (!one.closest('.box, pre') && one.getBoundingClientRect().right > innerWidth) say('too wide', one);
    }
  }

  // Contrast of texts, by WCAG 2: 4.5, or 3 in large type.
  const parse = (text) => {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) layers.push(parse(getComputedStyle(one).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const element of document.querySelectorAll('body *')) {
    const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
    if (!texts.length || !element.checkVisibility() || element.closest('script, style, svg')) continue;
    const style = getComputedStyle(element);
    const ground = behind(element);
    const [one, other] = [light(over(parse(style.color), ground)), light(ground)].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    const large = parseFloat(style.fontSize) >= 24;
    if (contrast < (large ? 3 : 4.5)) say('contrast ' + contrast.toFixed(2), element);
    if (parseFloat(style.fontSize) < 12) say('small type ' + style.fontSize, element);
  }

  // Shares begin at the left, as what is read does; texts of plots can be read.
  for (const share of document.querySelectorAll('.share > span')) {
    if (share.getBoundingClientRect().left > share.parentElement.getBoundingClientRect().left + 1) say('fills from the right', share);
  }
  for (const text of document.querySelectorAll('.drawing:not(.zoomable) text')) {
    if (text.checkVisibility() && text.getBoundingClientRect().height < 9) say('small text in a plot', text);
  }

  // What a screen reader needs.
  if (document.documentElement.lang !== 'en') wrong.push('no language');
  if (document.querySelectorAll('h1').length !== 1) wrong.push('not one h1');
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  if (new Set(ids).size !== ids.length) wrong.push('an id is used twice: ' + ids);
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    if (!document.getElementById(decodeURIComponent(link.hash.slice(1)))) say('leads nowhere', link);
  }
  for (const table of document.querySelectorAll('table')) if (!table.caption) say('no caption', table);
  for (const head of document.querySelectorAll('th')) if (!head.scope) say('no scope', head);
  for (const field of document.querySelectorAll('input')) if (!field.ariaLabel) say('no name', field);

  // Nothing that a text brought along.
  if (document.images.length) wrong.push('images');
  if (document.scripts.length !== 2) wrong.push(document.scripts.length + ' scripts');
  if ('hostile' in window) wrong.push('a text was run as a script');
  return wrong;
})();
