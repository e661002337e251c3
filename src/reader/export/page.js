'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const all = [...document.querySelectorAll('main > article, main > details, main > p')];
  all.forEach((entry, index) => { entry.id ||= 'e' + (index + 1); });
  const links = new Map([...document.querySelectorAll('nav a')].map((link) => [link.hash.slice(1), link]));
  // The entry that somebody went to, and where the search for the next one begins.
  let current;
  let at = -1;

  const go = (entry) => {
    current?.classList.remove('at');
    current = entry;
    at = all.indexOf(entry);
    if (entry.tagName === 'DETAILS') entry.open = true;
    entry.classList.add('at');
    entry.scrollIntoView({ block: 'center' });
  };
  // The next of some entries, or the first one again.
  const next = (entries, back) => {
    const order = back ? [...entries].reverse() : entries;
    const isLater = (entry) => back ? all.indexOf(entry) < at : all.indexOf(entry) > at;
    const found = order.find(isLater) || order[0];
    if (found) go(found);
  };
  const opened = () => {
    const entry = location.hash && $(decodeURIComponent(location.hash.slice(1)));
    if (entry && all.includes(entry)) go(entry);
  };

  // Search: whole entries, with each place marked where the browser can.
  let hits = [];
  const mark = (word) => {
    if (!window.Highlight) return;
    const ranges = [];
    for (const entry of word ? hits.slice(0, 500) : []) {
      const texts = document.createTreeWalker(entry, NodeFilter.SHOW_TEXT);
      for (let node; (node = texts.nextNode());) {
        const text = node.data.toLowerCase();
        for (let from = text.indexOf(word); from >= 0; from = text.indexOf(word, from + word.length)) {
          const range = new Range();
          range.setStart(node, from);
          range.setEnd(node, Math.min(from + word.length, node.length));
          ranges.push(range);
        }
      }
    }
    CSS.highlights.set('hit', new Highlight(...ranges));
  };
  const find = () => {
    const word = $('find').value.trim().toLowerCase();
    hits = word ? all.filter((entry) => entry.textContent.toLowerCase().includes(word)) : [];
    $('hits').textContent = word ? hits.length + ' found' : '';
    mark(word);
    at = -1;
    if (hits.length) go(hits[0]);
    $('find').focus();
  };
  let waiting;
  $('find').addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(find, 150); });
  $('find').addEventListener('keydown', (event) => {
    if (event.key === 'Enter') next(hits, event.shiftKey);
    if (event.key === 'Escape') { $('find').value = ''; find(); $('find').blur(); }
  });

  const errors = all.filter((entry) => entry.classList.contains('x'));
  const prompts = all.filter((entry) => entry.classList.contains('u'));
  const folded = all.filter((entry) => entry.tagName === 'DETAILS');
  const fold = () => {
    const open = folded.some((entry) => !entry.open);
    folded.forEach((entry) => { entry.open = open; });
    $('fold').textContent = (open ? 'Fold' : 'Unfold') + ' all ( o )';
  };
  $('fold').addEventListener('click', fold);
  $('error')?.addEventListener('click', () => next(errors));
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === 'INPUT') return;
    const keys = {
      '/': () => { $('find').focus(); $('find').select(); },
      e: () => next(errors), E: () => next(errors, true),
      j: () => next(prompts), k: () => next(prompts, true),
      n: () => next(hits), N: () => next(hits, true),
      o: fold,
    };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  // A time is the address of its entry.
  document.addEventListener('click', (event) => {
    if (event.target.tagName !== 'TIME') return;
    event.preventDefault();
    location.hash = event.target.closest('[id]').id;
  });
  addEventListener('hashchange', opened);

  if (links.size) {
    const seen = new IntersectionObserver((changes) => {
      for (const { target, isIntersecting } of changes) {
        if (!isIntersecting) continue;
        links.forEach((link) => link.classList.remove('now'));
        links.get(target.id)?.classList.add('now');
      }
    }, { rootMargin: '0px 0px -60% 0px' });
    prompts.forEach((prompt) => seen.observe(prompt));
    if (matchMedia('(max-width: 64rem)').matches) document.querySelector('nav details').open = false;
  }
  $('tools').hidden = false;
  opened();
})();
