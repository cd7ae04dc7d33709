/** Plain-word comparison of page text with instructions: folded, lightly stemmed, grouped by what they do. */
import { foldText } from '../../workflows/method/task-terms.ts';

const stopWords = new Set(
  'a an and any are as at be by can do does for from has have i in into is it its me my of on or our please so that the their them there this to up was what when where which who whose will with you your'.split(
    ' ',
  ),
);

/** Stems of the words, in reading order; those that carry no meaning are left out unless they are asked for. */
export function stemsOf(text: string, { keepStopWords = false } = {}): string[] {
  const words = foldText(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => keepStopWords || !stopWords.has(word)).map(stem);
}

/** Brings `archive`, `archived` and `archiving` together; no dictionary. */
export function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  return word
    .replace(/(ied|ies)$/, 'y')
    .replace(/(ing|ed|es|s|e)$/, '')
    .replace(/([b-df-hj-km-np-rtv-z])\1$/, '$1')
    .replace(/y$/, 'i');
}

/** What a control or a request is about; a word may belong to several. */
const verbWords = {
  open: 'open view show detail details go visit read see',
  create: 'create new add compose write draft make',
  save: 'save apply update submit done finish set',
  send: 'send sent reply forward post comment publish',
  delete: 'delete remove discard trash erase clear',
  close: 'archive close complete resolve finish',
  search: 'search find look filter sort',
  cancel: 'cancel dismiss keep abort no never',
  confirm: 'confirm yes ok continue proceed sure',
  edit: 'edit change rename modify update set turn',
  move: 'move assign label tag transfer put file folder',
  mark: 'star flag mark pin favourite favorite unstar important unread read',
  buy: 'buy cart checkout order purchase basket pay place',
  page: 'next more previous page older newer',
} as const;

export type VerbGroup = keyof typeof verbWords;

export const verbGroups: readonly VerbGroup[] = [
  'open',
  'create',
  'save',
  'send',
  'delete',
  'close',
  'search',
  'cancel',
  'confirm',
  'edit',
  'move',
  'mark',
  'buy',
  'page',
];

const groupsByStem = new Map<string, readonly VerbGroup[]>();
for (const group of verbGroups) {
  for (const word of verbWords[group].split(' ').map(stem)) {
    groupsByStem.set(word, [...(groupsByStem.get(word) ?? []), group]);
  }
}

/** Groups that any of the stems belongs to. */
export function verbsAmong(stems: Iterable<string>): ReadonlySet<VerbGroup> {
  const found = new Set<VerbGroup>();
  for (const word of stems) for (const group of groupsByStem.get(word) ?? []) found.add(group);
  return found;
}
