// Put before an app's own scripts. The app sends its whole state after every change without waiting for the last
// one to arrive, so two of them can overtake each other: numbered, the newest is known whichever comes last.
// And it draws random numbers where a state should be the same for the same actions.
(() => {
  const page = Math.random().toString(36).slice(2);
  const send = globalThis.fetch;
  let sent = 0;
  globalThis.fetch = function fetch(resource, options) {
    if (resource !== '/api/state' || options?.method !== 'PUT') return send.call(this, resource, options);
    sent += 1;
    const headers = { ...options.headers, 'x-clift-state': `${page} ${sent}` };
    return send.call(this, resource, { ...options, headers });
  };

  let seed = 1;
  Math.random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
})();
