/** The assertions that the miner considers, and how each reads as a question. */
import { foldText, taskTerms } from '../../workflows/method/task-terms.ts';
import type {
  ActionTaken,
  Assertion,
  AssertionNode,
  SeenAtState,
  SeenStep,
} from '../../workflows/method/types.ts';

/** Stands for any term of the task, so that one question serves many tasks (METHOD 1.5). */
export const anyTaskTerm = '$taskTerm';

/** Roles whose names belong to the application, not to the data that it shows. */
const controlRoles = new Set([
  'button',
  'checkbox',
  'combobox',
  'radio',
  'searchbox',
  'switch',
  'tab',
  'textbox',
]);
const maxLiteralWords = 5;
/** Numbers of steps that are worth a question. */
const longRollouts = [4, 8, 12];

/** Every assertion that something in these states suggests, each once, in a fixed order. */
export function assertionsAbout(states: readonly SeenAtState[]): AssertionNode[] {
  const found = new Map<string, AssertionNode>();
  for (const state of states) {
    for (const node of [...aboutSteps(state), ...aboutPage(state), ...aboutLength(state)]) {
      found.set(JSON.stringify(node), node);
    }
  }
  return [...found.values()];
}

/** Whether it has come to an answer, and how long it has been under way. */
function aboutLength({ steps }: SeenAtState): AssertionNode[] {
  const reached = longRollouts.filter((n) => steps.length >= n);
  return [{ op: 'answerGiven' }, ...reached.map((n) => ({ op: 'stepsAtLeast', n }) as const)];
}

function aboutSteps(state: SeenAtState): AssertionNode[] {
  const terms = taskTerms(state.instruction).map(foldText);
  const deeds = state.steps.flatMap((step) => deedsOf(step, terms));
  const presses = deeds.filter(({ tool, target }) => tool === 'click' && target !== anyTaskTerm);
  const entries = deeds.filter(({ value }) => value === anyTaskTerm);
  return [
    ...deeds,
    ...presses.map((of) => ({ op: 'count', of, atLeast: 2 }) as const),
    ...entries.flatMap((first) => presses.map((then) => ({ op: 'before', first, then }) as const)),
  ];
}

/** What a step did, in terms that hold for other tasks too. */
function deedsOf({ tool, target, value, ok }: SeenStep, terms: readonly string[]): ActionTaken[] {
  if (!ok) return [{ op: 'actionTaken', tool, ok: false }];
  const deeds: ActionTaken[] = [];
  const isTerm = (text: string): boolean => terms.includes(foldText(text));
  if (target !== null && isTerm(target.name)) deeds.push({ op: 'actionTaken', tool, target: anyTaskTerm });
  if (value !== null && isTerm(value)) deeds.push({ op: 'actionTaken', tool, value: anyTaskTerm });
  if (target === null || !isGeneral(target, terms)) return deeds;
  const named: ActionTaken = { op: 'actionTaken', tool, target: target.name };
  deeds.push(named);
  if (value !== null && isTerm(value)) deeds.push({ ...named, value: anyTaskTerm });
  return deeds;
}

function aboutPage({ instruction, elements, text }: SeenAtState): AssertionNode[] {
  const terms = taskTerms(instruction).map(foldText);
  const fields = elements.filter((element) => element.value !== null && isGeneral(element, terms));
  const notices = text
    .split('\n')
    .filter((line) => /^\p{Lu}[^.!?]*[.!]$/u.test(line) && isLiteral(line, terms));
  return [
    ...fields.map(({ name }) => ({ op: 'fieldValue', label: name, equals: anyTaskTerm }) as const),
    ...fields.map(({ name }) => ({ op: 'fieldValue', label: name, empty: true }) as const),
    ...notices.map((line) => ({ op: 'elementText', contains: line }) as const),
    { op: 'elementText', contains: anyTaskTerm },
  ];
}

const isGeneral = ({ role, name }: { role: string; name: string }, terms: readonly string[]): boolean =>
  controlRoles.has(role) && isLiteral(name, terms);

/** Short, without digits and without anything that the task names: fit to stand in a question. */
function isLiteral(text: string, terms: readonly string[]): boolean {
  const folded = foldText(text);
  const isShort = folded !== '' && folded.split(' ').length <= maxLiteralWords;
  return isShort && !/[\d:]/.test(folded) && !terms.some((term) => folded.includes(term));
}

/** True where the assertion names things of one application. */
export function namesLiterals(node: AssertionNode): boolean {
  switch (node.op) {
    case 'actionTaken':
      return node.target !== undefined && node.target !== anyTaskTerm;
    case 'count':
      return namesLiterals(node.of);
    case 'before':
      return namesLiterals(node.first) || namesLiterals(node.then);
    case 'elementText':
      return node.contains !== anyTaskTerm;
    case 'fieldValue':
      return true;
    default:
      return false;
  }
}

export const asAssertion = (root: AssertionNode): Assertion => ({ version: 1, root });

/** The question that the assertion answers; null for nodes that the miner never makes. */
export function questionText(node: AssertionNode): string | null {
  switch (node.op) {
    case 'actionTaken':
      return node.ok === false ? `Did a ${node.tool} fail?` : `Was ${deedText(node)}?`;
    case 'count':
      return `Was ${deedText(node.of)} ${node.atLeast} times or more?`;
    case 'before':
      return `Was ${deedText(node.first)} before ${deedText(node.then)}?`;
    case 'fieldValue':
      return 'empty' in node ? `Is "${node.label}" empty?` : `Is a task term in "${node.label}"?`;
    case 'elementText':
      return `Does the page show ${quoted(node.contains)}?`;
    case 'answerGiven':
      return 'Was an answer given?';
    case 'stepsAtLeast':
      return `Has it taken ${node.n} steps or more?`;
    default:
      return null;
  }
}

const quoted = (operand: string | undefined): string => {
  if (operand === undefined) return 'something';
  return operand === anyTaskTerm ? 'a task term' : JSON.stringify(operand);
};

function deedText({ tool, target, value }: ActionTaken): string {
  const on = (preposition: string) => (target === undefined ? '' : ` ${preposition} ${quoted(target)}`);
  switch (tool) {
    case 'click':
      return `${quoted(target)} clicked`;
    case 'type':
      return `${quoted(value)} typed${on('into')}`;
    case 'select':
      return `${quoted(value)} selected${on('in')}`;
    default:
      return `${tool} used${on('on')}`;
  }
}
