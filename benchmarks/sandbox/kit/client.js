/**
 * The only script of the pages. It turns same-origin links and forms into requests whose reply replaces the
 * body, as single-page apps do, and counts in `window.__pending` what the page still waits for.
 * Without it every link and form works just the same.
 */
(() => {
  window.__pending = 1;
  window.addEventListener('load', () => {
    window.__pending -= 1;
  });

  let latestTurn = 0;

  async function show(url, init, keepHistory) {
    latestTurn += 1;
    const turn = latestTurn;
    window.__pending += 1;
    try {
      const response = await fetch(url, init);
      const page = new DOMParser().parseFromString(await response.text(), 'text/html');
      if (turn !== latestTurn) return;
      const moved = response.url !== location.href;
      if (moved && !keepHistory) history.pushState(null, '', response.url);
      document.title = page.title;
      document.body.replaceWith(page.body);
      if (moved) window.scrollTo(0, 0);
    } finally {
      window.__pending -= 1;
    }
  }

  function setExpanded(button, expanded) {
    button.setAttribute('aria-expanded', String(expanded));
    button.nextElementSibling.hidden = !expanded;
  }

  function choose(option) {
    const dropdown = option.closest('[data-dropdown]');
    const input = dropdown.querySelector('input');
    const button = dropdown.querySelector('[aria-haspopup]');
    input.value = option.value;
    button.textContent = `${dropdown.dataset.dropdown}: ${option.textContent}`;
    setExpanded(button, false);
    button.focus();
    if ('autosubmit' in dropdown.dataset) input.form.requestSubmit();
  }

  function followLink(event, link) {
    const plainClick = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    if (!plainClick || link.target || link.origin !== location.origin) return;
    if ('plain' in link.dataset) {
      // The next document starts its own count; this one stays busy until it is gone.
      window.__pending += 1;
      return;
    }
    event.preventDefault();
    show(link.href, {}, false);
  }

  document.addEventListener('click', (event) => {
    const opener = event.target.closest('[aria-haspopup="listbox"]');
    for (const other of document.querySelectorAll('[aria-haspopup="listbox"][aria-expanded="true"]')) {
      if (other !== opener) setExpanded(other, false);
    }
    if (opener) return setExpanded(opener, opener.getAttribute('aria-expanded') !== 'true');
    const option = event.target.closest('[data-dropdown] [role="option"]');
    if (option) return choose(option);
    const link = event.target.closest('a[href]');
    if (link) followLink(event, link);
  });

  document.addEventListener('submit', (event) => {
    event.preventDefault();
    const form = event.target;
    const chosen = event.submitter?.getAttribute('formaction') ?? form.getAttribute('action');
    const action = new URL(chosen, location.href);
    const fields = new URLSearchParams(new FormData(form, event.submitter));
    if (form.method === 'post') return show(action, { method: 'POST', body: fields }, false);
    action.search = String(fields);
    show(action, {}, false);
  });

  document.addEventListener('change', (event) => {
    if ('autosubmit' in event.target.dataset) event.target.form.requestSubmit();
  });

  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') document.querySelector('[data-dismiss]')?.click();
  });

  window.addEventListener('popstate', () => show(location.href, {}, true));

  window.addEventListener('pageshow', (event) => {
    if (!event.persisted) return;
    // Restored as it was left, in the middle of a plain navigation: start over from the server's state.
    window.__pending = 0;
    show(location.href, {}, true);
  });
})();
