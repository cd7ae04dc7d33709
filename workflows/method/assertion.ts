import { scopeMatches } from './scope.ts';
import { foldText, taskTerms } from './task-terms.ts';
import type { ActionTaken, Assertion, AssertionNode, SeenAtState, SeenElement, SeenStep } from './types.ts';

/** METHOD 1.5: whether an executable assertion holds at one URL state; its answer is p = 1 or 0. */
export function evaluateAssertion(assertion: Assertion, seen: SeenAtState): boolean {
  if (assertion.version !== 1)
    throw new RangeError(`assertion version ${assertion.version} is unknown; this code reads version 1`);
  return holds(assertion.root, { seen, terms: taskTerms(seen.instruction).map(foldText) });
}

interface Scene {
  readonly seen: SeenAtState;
  readonly terms: readonly string[];
}

function holds(node: AssertionNode, scene: Scene): boolean {
  const { seen } = scene;
  switch (node.op) {
    case 'urlMatches':
      return seen.pages.some((page) => scopeMatches(node.glob, page));
    case 'pathKeyIs':
      return seen.pages.some((page) => page.pathKey === node.key);
    case 'elementText':
      return hasElementText(node, scene);
    case 'fieldValue':
      return seen.elements.some((element) => fieldAgrees(node, element, scene));
    case 'actionTaken':
      return seen.steps.some((step) => stepAgrees(node, step, scene));
    case 'answerGiven':
      return seen.answer !== null;
    case 'answerContains':
      return seen.answer !== null && contains(seen.answer, node.text, scene);
    case 'stepsAtLeast':
      return seen.steps.length >= node.n;
    case 'and':
      return node.all.every((part) => holds(part, scene));
    case 'or':
      return node.any.some((part) => holds(part, scene));
    case 'not':
      return !holds(node.node, scene);
    case 'count':
      return seen.steps.filter((step) => stepAgrees(node.of, step, scene)).length >= node.atLeast;
    case 'before':
      return precedes(node.first, node.then, scene);
    default:
      return refuseNode(node);
  }
}

function hasElementText(node: Extract<AssertionNode, { op: 'elementText' }>, scene: Scene): boolean {
  const { role, name } = node;
  const anywhere = role === undefined && name === undefined;
  if (anywhere && contains(scene.seen.text, node.contains, scene)) return true;
  return scene.seen.elements.some(
    (element) =>
      (role === undefined || foldText(element.role) === foldText(role)) &&
      (name === undefined || equals(element.name, name, scene)) &&
      [element.name, element.text, element.value ?? ''].some((text) => contains(text, node.contains, scene)),
  );
}

function fieldAgrees(
  node: Extract<AssertionNode, { op: 'fieldValue' }>,
  { name, value }: SeenElement,
  scene: Scene,
): boolean {
  if (value === null || !equals(name, node.label, scene)) return false;
  if ('equals' in node) return equals(value, node.equals, scene);
  if ('contains' in node) return contains(value, node.contains, scene);
  return (foldText(value) === '') === node.empty;
}

function stepAgrees(node: ActionTaken, step: SeenStep, scene: Scene): boolean {
  return (
    step.tool === node.tool &&
    (node.target === undefined || (step.target !== null && equals(step.target.name, node.target, scene))) &&
    (node.value === undefined || (step.value !== null && equals(step.value, node.value, scene))) &&
    (node.ok === undefined || step.ok === node.ok)
  );
}

/** The first step that satisfies one comes before the first that satisfies the other. */
function precedes(first: ActionTaken, then: ActionTaken, scene: Scene): boolean {
  const indexOf = (node: ActionTaken): number =>
    scene.seen.steps.findIndex((step) => stepAgrees(node, step, scene));
  const [firstIndex, thenIndex] = [indexOf(first), indexOf(then)];
  return firstIndex >= 0 && thenIndex >= 0 && firstIndex < thenIndex;
}

const equals = (text: string, operand: string, scene: Scene): boolean =>
  operandTexts(operand, scene).some((wanted) => foldText(text) === wanted);

const contains = (text: string, operand: string, scene: Scene): boolean =>
  operandTexts(operand, scene).some((wanted) => foldText(text).includes(wanted));

function operandTexts(operand: string, scene: Scene): readonly string[] {
  return operand === '$taskTerm' ? scene.terms : [foldText(operand)];
}

function refuseNode(node: never): never {
  throw new RangeError(`assertion node ${JSON.stringify(node)} is unknown; this code reads version 1`);
}
