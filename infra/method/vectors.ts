/** `npm run vectors -- FILE`: runs a file of METHOD 9's form and ends with `N passed, N failed`. */
import { readVectorFile, runVector, type VectorCase, type VectorFile } from './vector-file.ts';

const shownDifferences = 5;

function report(vector: VectorCase, file: VectorFile): boolean {
  const found = differencesOrError(vector, file);
  console.log(`${found.length === 0 ? 'pass' : 'FAIL'}  ${vector.id}  ${vector.note}`.trimEnd());
  for (const difference of found.slice(0, shownDifferences)) console.log(`      ${difference}`);
  if (found.length > shownDifferences) console.log(`      and ${found.length - shownDifferences} more`);
  return found.length === 0;
}

/** A vector that throws fails alone; the others still run. */
function differencesOrError(vector: VectorCase, file: VectorFile): string[] {
  try {
    return runVector(vector, file);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

const [path = 'test/fixtures/vectors.json'] = process.argv.slice(2);
const file = readVectorFile(path);
const passed = file.cases.filter((vector) => report(vector, file)).length;
const failed = file.cases.length - passed;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
