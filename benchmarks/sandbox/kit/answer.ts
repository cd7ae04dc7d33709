/** What a right answer says, and what it must not say instead. */
export interface AnswerKey {
  readonly value: string;
  /** Values of the same kind elsewhere in the application: naming several to be safe is no answer. */
  readonly distractors: readonly string[];
}

/** Words and numbers in lower case: `$1,418.20` and `1418.20` read the same, as do `+1 555-0134` and `1 555 0134`. */
function tokensOf(text: string): string {
  const plain = text
    .normalize('NFC')
    .toLowerCase()
    .replace(/(\d),(?=\d{3})/g, '$1');
  return ` ${(plain.match(/[\p{L}\p{N}]+(?:\.\d+)?/gu) ?? []).join(' ')} `;
}

/** True when the answer states the value and none of its distractors. */
export function answers(key: AnswerKey, answer: string | null): boolean {
  if (answer === null) return false;
  const said = tokensOf(answer);
  const value = tokensOf(key.value);
  if (!said.includes(value)) return false;
  const rest = said.replaceAll(value, ' ');
  return !key.distractors.some((other) => tokensOf(other) !== value && rest.includes(tokensOf(other)));
}
