import { Describer } from './describe.ts';
import { Dom } from './dom.ts';
import { Groups } from './groups.ts';
import { PageHands } from './hands.ts';
import { Names } from './names.ts';
import { Quiet } from './quiet.ts';
import { PageReader } from './reader.ts';
import { Rows } from './rows.ts';
import { VisibleText } from './text.ts';

/** What the harness may call inside the page, by name. */
export type PageCall =
  | 'read'
  | 'marks'
  | 'aim'
  | 'field'
  | 'takeCaret'
  | 'setField'
  | 'select'
  | 'position'
  | 'scroll'
  | 'find'
  | 'nextFrame'
  | 'quiet';

/** Installs the page's half of the harness in the world that evaluates it. */
export const pageSource = `globalThis.clift = (() => {
  const dom = new (${Dom})();
  const text = new (${VisibleText})(dom);
  const groups = new (${Groups})(dom, text);
  const names = new (${Names})(dom, text, groups);
  const describer = new (${Describer})(dom, text);
  const rows = new (${Rows})(dom, text);
  const reader = new (${PageReader})(dom, text, groups, names, describer, rows);
  const hands = new (${PageHands})(dom, text, describer, reader);
  const quiet = new (${Quiet})(dom);
  const owner = (name) => [reader, quiet, hands].find((part) => name in part);
  return (name, ...args) => {
    dom.forget();
    groups.forget();
    return owner(name)[name](...args);
  };
})();`;
