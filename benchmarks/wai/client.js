// Put before an app's own scripts. The app sends its whole state after every change without waiting for the last
// one to arrive, so two of them can overtake each other: numbered, the newest is known whichever comes last.
// It draws random numbers, where a state should be the same for the same actions; and it makes ids from the clock,
// which is frozen: each look at it is a millisecond later than the last, so that two ids stay two.
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

  // Kept beside the app's own state, so that what a page makes after a reload differs from what it made before.
  const drawn = JSON.parse(localStorage.getItem('clift') ?? '{ "seed": 1, "looks": 0 }');
  const keep = () => localStorage.setItem('clift', JSON.stringify(drawn));

  Math.random = () => {
    drawn.seed = (Math.imul(drawn.seed, 1664525) + 1013904223) >>> 0;
    keep();
    return drawn.seed / 2 ** 32;
  };

  const frozen = Date.now();
  Date.now = () => {
    drawn.looks += 1;
    keep();
    return frozen + drawn.looks;
  };
})();
