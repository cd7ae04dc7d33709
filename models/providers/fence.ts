/**
 * Whatever a page, a model or a stranger wrote stands between fences in every prompt, and nothing of it outside.
 * The nonce of a fence is drawn from the whole request: it is fresh for every request, the same when the request
 * is made again, and a page that wanted to contain it would have to contain its own hash.
 */
import { createHash } from 'node:crypto';

export interface Fence {
  readonly nonce: string;
  /** Two marks that `content` cannot forge, with `content` between them. `label` is ours. */
  around(label: string, content: string): string;
  /** What is suspicious about the contents and the reply to them, in words of ours. */
  flags(reply: string): readonly string[];
}

const NONCE_DIGITS = 24;

/** `request`: JSON that determines every byte that will be fenced. */
export function createFence(request: unknown): Fence {
  const nonce = createHash('sha256').update(JSON.stringify(request)).digest('hex').slice(0, NONCE_DIGITS);
  const planted: string[] = [];
  return {
    nonce,
    around: (label, content) => {
      planted.push(...plantedInstructions(label, content));
      return `<<<${nonce} ${label}\n${disarm(content, nonce)}\n${nonce}>>>`;
    },
    flags: (reply) => [
      ...planted,
      ...(reply.includes(nonce) ? ['the reply repeats the code of its fences'] : []),
    ],
  };
}

const invisible = /[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u{e0000}-\u{e007f}]/gu;

/** No control token of a chat template, no invisible character, and not the nonce, whatever the odds. */
function disarm(content: string, nonce: string): string {
  return content
    .toWellFormed()
    .replaceAll(invisible, '')
    .replaceAll(/<(?=[|/a-z\u{ff5c}])/giu, '< ')
    .replaceAll(/\[(?=\/?INST\])/g, '[ ')
    .replaceAll(nonce, '');
}

/** The ways in which pages address models. They change nothing; people may want to look at such a page. */
const signs: readonly (readonly [name: string, RegExp])[] = [
  [
    'an order to forget',
    /\b(ignore|disregard|forget)\b.{0,40}\b(previous|prior|above|earlier|all)\b.{0,40}\b(instruction|prompt|rule|task)/i,
  ],
  ['a role', /\b(system|developer) (prompt|message|instruction)|you are now\b|new instructions?:/i],
  [
    'a wish for a verdict',
    /\b(answer|reply|respond|vote|score|rate|output)\b.{0,30}\b(with )?("?yes"?|"?no"?|1\.0|full marks|success(ful)?)\b.{0,40}\b(every|all|always|any|regardless)\b/i,
  ],
  ['a control token', /<\|\w+\|?>|<\/?(start|end)_of_turn>|\[\/?INST\]|<\/?(system|assistant|tool_call)>/i],
  ['a fence', /<<<[0-9a-f]{8,}|[0-9a-f]{8,}>>>/i],
];

function plantedInstructions(label: string, content: string): readonly string[] {
  const seen = content.replaceAll(invisible, '');
  return signs.filter(([, sign]) => sign.test(seen)).map(([name]) => `"${label}" contains ${name}`);
}
