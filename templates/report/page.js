// What tables and the download do; the page can be read without it.
'use strict';
(() => {
  const make = (tag, values) => Object.assign(document.createElement(tag), values);

  // Saves the text that the page was made from, as it was before it was put into HTML.
  const data = document.getElementById('data');
  const json = data.textContent.trim().replace(/(\\\\)|\\u003c/g, (all, pair) => pair || '<');
  const link = make('a', {textContent: 'Download the data as JSON', download: data.dataset.name});
  link.href = URL.createObjectURL(new Blob([json + '\n'], {type: 'application/json'}));
  const line = make('p', {className: 'download'});
  line.append(link);
  document.querySelector('footer').append(line);

  const words = new Intl.Collator('en', {numeric: true, sensitivity: 'base'});
  const value = (row, column) => {
    const cell = row.cells[column];
    return 'number' in cell.dataset ? Number(cell.dataset.number) : cell.textContent.trim();
  };
  // Numbers before texts, empty cells last.
  const compare = (a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
    return words.compare(a, b);
  };

  const sortable = (table) => {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = make('button', {type: 'button', textContent: head.textContent});
      head.replaceChildren(button);
      button.addEventListener('click', () => {
        const numeric = head.classList.contains('number');
        const before = head.getAttribute('aria-sort');
        const ascending = before ? before === 'descending' : !numeric;
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
        const rows = [...body.rows].map((row) => [value(row, column), row]);
        rows.sort(([a], [b]) => {
          if (a === '' || b === '') return (a === '') - (b === '');
          return ascending ? compare(a, b) : compare(b, a);
        });
        body.append(...rows.map(([, row]) => row));
      });
    });
  };

  const filterable = (table) => {
    const rows = [...table.tBodies[0].rows];
    const name = table.caption.textContent;
    const field = make('input', {type: 'search', placeholder: 'Filter', autocomplete: 'off'});
    field.setAttribute('aria-label', 'Filter ' + name);
    const count = make('output', {textContent: rows.length + ' rows'});
    field.addEventListener('input', () => {
      const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !wanted.every((word) => text.includes(word));
        shown += !row.hidden;
      }
      count.textContent = wanted.length ? shown + ' of ' + rows.length + ' rows' : rows.length + ' rows';
    });
    const tools = make('div', {className: 'tools'});
    tools.append(field, count);
    table.closest('.table').prepend(tools);
  };

  // Large drawings: the box scrolls, which is how fingers and arrow keys move it.
  const zoomable = (figure) => {
    const box = figure.querySelector('.box');
    const drawing = box.querySelector('svg');
    if (!drawing) return;
    let fitting = 0;
    let zoom = 1;
    // Keeps the point of the box at x, y where it is.
    const zoomTo = (wanted, x = box.clientWidth / 2, y = box.clientHeight / 2) => {
      const before = zoom;
      if (before === 1) fitting = drawing.getBoundingClientRect().width;
      zoom = Math.min(Math.max(wanted, 1), 64);
      figure.classList.toggle('larger', zoom > 1);
      drawing.style.width = zoom > 1 ? fitting * zoom + 'px' : '';
      box.scrollLeft = (box.scrollLeft + x) * zoom / before - x;
      box.scrollTop = (box.scrollTop + y) * zoom / before - y;
    };
    const button = (text, name, action) => {
      const made = make('button', {type: 'button', textContent: text, onclick: action});
      made.setAttribute('aria-label', name);
      return made;
    };
    const field = make('input', {type: 'search', placeholder: 'Find', autocomplete: 'off'});
    field.setAttribute('aria-label', 'Find in the drawing');
    const count = make('output');
    let found = [];
    let current = 0;
    const show = () => {
      count.textContent = !field.value ? '' : found.length ? current + 1 + ' of ' + found.length : 'not found';
      if (found.length) found[current].scrollIntoView({block: 'nearest', inline: 'nearest'});
    };
    field.addEventListener('input', () => {
      const wanted = field.value.toLowerCase();
      for (const text of found) text.classList.remove('found');
      found = wanted ? [...drawing.querySelectorAll('text')].filter((text) => text.textContent.toLowerCase().includes(wanted)) : [];
      for (const text of found) text.classList.add('found');
      current = 0;
      show();
    });
    field.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !found.length) return;
      current = (current + (event.shiftKey ? found.length - 1 : 1)) % found.length;
      show();
    });
    box.addEventListener('wheel', (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const place = box.getBoundingClientRect();
      zoomTo(zoom * Math.exp(-event.deltaY / 300), event.clientX - place.left, event.clientY - place.top);
    }, {passive: false});
    box.addEventListener('pointerdown', (event) => {
      if (event.pointerType !== 'mouse' || event.button !== 0) return;
      const move = (next) => box.scrollBy(-next.movementX, -next.movementY);
      box.setPointerCapture(event.pointerId);
      box.addEventListener('pointermove', move);
      box.addEventListener('lostpointercapture', () => box.removeEventListener('pointermove', move), {once: true});
    });
    const tools = make('div', {className: 'tools'});
    tools.append(button('+', 'Larger', () => zoomTo(zoom * 1.5)), button('−', 'Smaller', () => zoomTo(zoom / 1.5)),
                 button('Fit', 'Fit the drawing into its box', () => zoomTo(1)), field, count);
    figure.prepend(tools);
    // Where the whole drawing would be too small to read, a part of it is shown first.
    const begin = () => {
      const readable = 0.8 * drawing.width.baseVal.value / drawing.getBoundingClientRect().width;
      const x = drawing.querySelector('.graph') ? box.clientWidth / 2 : 0;
      if (zoom === 1 && readable > 1.8 && readable < 8) zoomTo(readable, x, 0);
    };
    const fold = figure.closest('details');
    if (fold && !fold.open) fold.addEventListener('toggle', begin, {once: true});
    else begin();
  };

  document.querySelectorAll('.zoomable').forEach(zoomable);
  for (const table of document.querySelectorAll('table.data')) {
    if (table.tBodies[0].rows.length > 1) sortable(table);
    if (table.tBodies[0].rows.length > 7) filterable(table);
  }

  // Paper shows what is folded on the screen.
  addEventListener('beforeprint', () => {
    for (const fold of document.querySelectorAll('details')) fold.open = true;
  });
})();
