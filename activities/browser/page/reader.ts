/// <reference lib="dom" />
import type { ElementState, LeftOutRows, ObservedElement } from '../../../benchmarks/contract.ts';
import type { Describer } from './describe.ts';
import type { Box, Dom, Point } from './dom.ts';
import type { Groups } from './groups.ts';
import type { Names } from './names.ts';
import type { Rows } from './rows.ts';
import type { VisibleText } from './text.ts';

/** What one observation may cost the policy. */
export interface ObservationBudget {
  readonly elements: number;
  readonly textCharacters: number;
  /** Nodes looked at before the rest of a huge page is left out. */
  readonly nodes: number;
}

export interface ReadPage {
  readonly url: string;
  readonly title: string;
  readonly elements: ObservedElement[];
  readonly text: string;
  readonly scroll: { readonly topPx: number; readonly heightPx: number; readonly viewportPx: number };
  readonly truncated: boolean;
  readonly leftOut?: LeftOutRows[];
}

/** What an element inherits on the way down from the root. */
interface Inherited {
  readonly overlay: Element | null;
  readonly inDialog: boolean;
  readonly pointer: boolean;
}

interface Found extends Inherited {
  readonly element: Element;
  readonly heading: string;
  readonly scrolls: boolean;
}

/** Where a click on an element would land. */
export interface Aim {
  /** Null when no part of the element is on the screen. */
  readonly point: Point | null;
  /** Title of what lies over it. */
  readonly coveredBy: string | null;
}

/** What names an element beyond its node, for pages that rebuild their nodes. */
interface Held {
  readonly element: Element;
  readonly key: string;
}

/** Observes the page and keeps what its refs stand for until the next observation. Runs in the page (see dom.ts). */
export class PageReader {
  readonly #dom: Dom;
  readonly #text: VisibleText;
  readonly #groups: Groups;
  readonly #names: Names;
  readonly #describer: Describer;
  readonly #rows: Rows;
  readonly #controls =
    'a[href],area[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable],[onclick],' +
    '[tabindex]:not([tabindex^="-"]),[draggable=true],[data-action],[data-toggle],[data-href],[data-command],' +
    '[role=button],[role=link],[role=checkbox],[role=radio],[role=switch],[role=tab],[role=menuitem],' +
    '[role=menuitemcheckbox],[role=menuitemradio],[role=option],[role=combobox],[role=listbox],[role=textbox],' +
    '[role=searchbox],[role=slider],[role=spinbutton],[role=treeitem],[role=gridcell]';
  readonly #choiceClass =
    /(?:^|[\s-])(?:(?:suggestion|dropdown|autocomplete|typeahead|search|result|menu)-item|suggestion|dropdown-trigger)(?:\s|$)/;
  readonly #dialogs = 'dialog[open],[role=dialog],[role=alertdialog],[aria-modal=true]';
  readonly #sections = 'article,section,aside,nav,li,tr,fieldset,dialog,[role=dialog],[role=listitem]';
  #held = new Map<string, Held>();
  #heading = '';
  #visited = 0;

  constructor(dom: Dom, text: VisibleText, groups: Groups, names: Names, describer: Describer, rows: Rows) {
    this.#dom = dom;
    this.#text = text;
    this.#groups = groups;
    this.#names = names;
    this.#describer = describer;
    this.#rows = rows;
  }

  read(budget: ObservationBudget): ReadPage {
    const found = this.#find(budget.nodes);
    const overlay = found.findLast((entry) => entry.overlay !== null)?.overlay ?? null;
    const located = found.map((entry) => this.#locate(entry, overlay));
    const { rows, lists } = this.#rows.leaveOut(located, located.length - budget.elements);
    const remaining = located.filter(({ element }) => rows.size === 0 || !this.#rows.isIn(element, rows));
    const kept = this.#withinBudget(remaining, budget.elements);
    this.#held = new Map();
    const elements = kept.map((entry, index) => this.#describe(entry, `e${index + 1}`));
    const { lines, cut } = this.#readText(budget.textCharacters, rows);
    return {
      url: location.href,
      title: this.#dom.title(),
      elements,
      text: lines.join('\n').slice(0, budget.textCharacters),
      scroll: this.#scroll(),
      truncated: cut || kept.length < located.length || this.#visited > budget.nodes,
      ...(lists.length > 0 && { leftOut: lists }),
    };
  }

  /** All of the text where it fits; else without the rows that are left out anyway. */
  #readText(limit: number, leftOut: ReadonlySet<Element>): { lines: string[]; cut: boolean } {
    const whole = this.#text.lines(this.#dom.root(), limit);
    if (!whole.cut || leftOut.size === 0) return whole;
    const { lines } = this.#text.lines(this.#dom.root(), limit, leftOut);
    return { lines, cut: true };
  }

  #scroll(): ReadPage['scroll'] {
    return {
      topPx: Math.round(scrollY),
      heightPx: this.#dom.scrollHeight(this.#dom.scrollingElement()),
      viewportPx: innerHeight,
    };
  }

  // ---- finding what can be acted on --------------------------------------------------------------------------

  #find(nodes: number): Found[] {
    const found: Found[] = [];
    this.#heading = '';
    this.#visited = 0;
    const start = { overlay: null, inDialog: false, pointer: false };
    this.#visit(this.#dom.root(), start, nodes, found);
    return found;
  }

  #visit(element: Element, inherited: Inherited, nodes: number, found: Found[]): void {
    this.#visited += 1;
    if (this.#visited > nodes) return;
    const tag = this.#dom.tag(element);
    if (tag === 'script' || tag === 'style' || tag === 'head' || tag === 'template') return;
    if (!this.#dom.look(element).rendered) return;
    const scrolls = this.#dom.scrolls(element) && !this.#isField(element);
    const own = this.#inherit(element, inherited, found.length > 0);
    const outer = this.#heading;
    if (this.#isActionable(element, inherited, scrolls)) {
      found.push({ ...own, element, heading: this.#heading, scrolls });
    }
    if (/^h[1-6]$/.test(tag)) this.#heading = this.#text.line(element, 80);
    if (tag === 'select' || tag === 'svg') return;
    for (const child of this.#dom.children(element)) {
      if (this.#dom.isElement(child)) this.#visit(child, own, nodes, found);
    }
    if (outer !== '' && this.#dom.matches(element, this.#sections)) this.#heading = outer;
  }

  #inherit(element: Element, from: Inherited, hasContent: boolean): Inherited {
    const overlays = hasContent && this.#isOverlay(element);
    return {
      overlay: overlays ? element : from.overlay,
      inDialog: from.inDialog || overlays || this.#dom.matches(element, this.#dialogs),
      pointer: this.#dom.look(element).pointer,
    };
  }

  /** A modal dialog, or a layer of the page's own making that lies over nearly everything. */
  #isOverlay(element: Element): boolean {
    if (this.#dom.matches(element, 'dialog:modal')) return true;
    if (!['fixed', 'absolute'].includes(this.#dom.look(element).position)) return false;
    const { zIndex, pointerEvents } = this.#dom.style(element);
    if (!(Number(zIndex) > 0) || pointerEvents === 'none') return false;
    const { right, bottom } = this.#dom.viewport();
    const seen = this.#dom.intersect(this.#dom.box(element), this.#dom.viewport());
    return seen.right - seen.left >= 0.8 * right && seen.bottom - seen.top >= 0.8 * bottom;
  }

  #isActionable(element: Element, inherited: Inherited, scrolls: boolean): boolean {
    if (this.#isSwitch(element)) return this.drawn(element) !== null;
    const { shown, transparent, pointer } = this.#dom.look(element);
    if (!shown || this.#dom.tag(element) === 'body' || (transparent && !this.#isField(element))) return false;
    const isControl = this.#dom.matches(element, this.#controls) || this.#isChoice(element);
    const isClickable = pointer && !inherited.pointer && !this.#labelsControl(element);
    return (isControl || isClickable || scrolls) && this.#dom.boxes(element).length > 0;
  }

  /** What drops down to be chosen says so by its class alone in some pages. */
  #isChoice(element: Element): boolean {
    return this.#choiceClass.test(this.#dom.attribute(element, 'class') ?? '');
  }

  #isField(element: Element): boolean {
    return ['input', 'select', 'textarea'].includes(this.#dom.tag(element));
  }

  #isSwitch(element: Element): boolean {
    return element instanceof HTMLInputElement && (element.type === 'checkbox' || element.type === 'radio');
  }

  #labelsControl(element: Element): boolean {
    return element instanceof HTMLLabelElement && element.control !== null;
  }

  /** What to look at and click for an element: a native checkbox without a size is drawn by its label. */
  drawn(element: Element): Element | null {
    if (!this.#isSwitch(element) || this.#isDrawn(element)) return element;
    return this.#names.labels(element).find((label) => this.#isDrawn(label)) ?? null;
  }

  #isDrawn(element: Element): boolean {
    const { rendered, shown } = this.#dom.look(element);
    return rendered && shown && this.#dom.boxes(element).length > 0;
  }

  // ---- hit-testing -------------------------------------------------------------------------------------------

  #locate(entry: Found, overlay: Element | null): Found & Aim {
    const aim = this.aimAt(entry.element);
    const hiddenBelow = aim.point === null && overlay !== null && !this.#dom.contains(overlay, entry.element);
    return { ...entry, ...aim, ...(hiddenBelow && { coveredBy: this.#titleOf(overlay) }) };
  }

  /** Hit-tests the drawn parts of an element in reading order for a point where a click reaches it. */
  aimAt(element: Element): Aim {
    const target = this.drawn(element);
    if (target === null) return { point: null, coveredBy: null };
    let inner: Point | null = null;
    let covered: { point: Point; by: Element } | null = null;
    for (const point of this.#probes(target)) {
      const hit = this.#dom.hit(point);
      if (hit === null || !this.#reaches(hit, element, target)) covered ??= hit && { point, by: hit };
      else if (this.#isInner(hit, target)) inner ??= point;
      else return { point, coveredBy: null };
    }
    if (inner !== null || covered === null) return { point: inner, coveredBy: null };
    return { point: covered.point, coveredBy: this.#titleOf(covered.by) };
  }

  /** Middle and quarters of each part that is on the screen. */
  #probes(target: Element): Point[] {
    const onScreen = this.#dom
      .boxes(target)
      .map((box) => this.#dom.intersect(box, this.#dom.viewport()))
      .filter((box) => this.#dom.hasArea(box));
    if (onScreen.length === 0) return [];
    const clip = this.#dom.clip(target);
    return onScreen
      .slice(0, 4)
      .map((box) => this.#dom.intersect(box, clip))
      .filter((box) => this.#dom.hasArea(box))
      .flatMap((box) => this.#pointsOf(box));
  }

  #pointsOf(box: Box): Point[] {
    const { x, y } = this.#dom.centre(box);
    const dx = (box.right - box.left) / 4;
    const dy = (box.bottom - box.top) / 4;
    return [
      { x, y },
      { x: x - dx, y: y - dy },
      { x: x + dx, y: y + dy },
      { x: x - dx, y: y + dy },
      { x: x + dx, y: y - dy },
    ];
  }

  #reaches(hit: Element, element: Element, target: Element): boolean {
    if (this.#dom.contains(target, hit) || this.#dom.contains(hit, target)) return true;
    return this.#names.labels(element).some((label) => this.#dom.contains(label, hit));
  }

  /** True where a control inside the target would take the click: the button in the middle of a card. */
  #isInner(hit: Element, target: Element): boolean {
    if (hit === target || this.#dom.contains(hit, target)) return false;
    const control = this.#dom.closest(hit, (at) => at === target || this.#dom.matches(at, this.#controls));
    return control !== target;
  }

  /** What a person would call the thing in the way. */
  #titleOf(cover: Element): string {
    const layer =
      this.#dom.closest(cover, (at) => this.#dom.matches(at, this.#dialogs)) ?? this.#layerOf(cover);
    const labelled = this.#dom.attribute(layer, 'aria-label');
    const heading = this.#dom.query(layer, 'h1,h2,h3,h4,[role=heading],[class*=title]');
    const title = labelled ?? (heading ? this.#text.line(heading, 60) : this.#text.line(layer, 60));
    return title === '' ? 'an overlay' : title;
  }

  #layerOf(cover: Element): Element {
    const lifted = (at: Element) => ['fixed', 'absolute', 'sticky'].includes(this.#dom.look(at).position);
    return this.#dom.closest(cover, lifted) ?? cover;
  }

  // ---- describing --------------------------------------------------------------------------------------------

  /** What can be clicked as the page stands comes first when there is too much; the order stays that of the page. */
  #withinBudget(found: (Found & Aim)[], limit: number): (Found & Aim)[] {
    if (found.length <= limit) return found;
    const urgency = ({ point, coveredBy, inDialog }: Found & Aim): number => {
      if (coveredBy !== null) return 3;
      if (point !== null) return 0;
      return inDialog ? 1 : 2;
    };
    const kept = new Set(found.toSorted((a, b) => urgency(a) - urgency(b)).slice(0, limit));
    return found.filter((entry) => kept.has(entry));
  }

  #describe(entry: Found & Aim, ref: string): ObservedElement {
    const { element, heading, coveredBy } = entry;
    const role = this.#describer.role(element, entry.scrolls);
    const name = this.#names.name(element, role);
    const context = this.#groups.context(element, name);
    const states: ElementState[] = this.#describer.states(element, role);
    if (entry.point === null) states.push('offscreen');
    if (entry.inDialog) states.push('in-dialog');
    this.#held.set(ref, { element, key: JSON.stringify([role, name, context]) });
    const value = this.#describer.value(element)?.slice(0, 2_000) ?? null;
    return {
      ref,
      role,
      name,
      value,
      options: this.#describer.options(element),
      states,
      context,
      heading,
      coveredBy,
    };
  }

  // ---- refs --------------------------------------------------------------------------------------------------

  /**
   * The element that a ref of the last observation stands for. A page may have rebuilt its nodes since: then the
   * only element of the same role, name and context takes its place, and null means that there is no such one.
   */
  resolve(ref: string, nodes: number): Element | null {
    const held = this.#held.get(ref);
    if (held === undefined) return null;
    if (this.#dom.isConnected(held.element)) return held.element;
    const twins = [...this.#held.values()].filter(({ key }) => key === held.key);
    const alike = this.#find(nodes).filter((entry) => this.#keyOf(entry) === held.key);
    return twins.length === 1 && alike.length === 1 ? (alike[0]?.element ?? null) : null;
  }

  /** Where the refs of the last observation can be seen and clicked now. */
  marks(): ({ readonly ref: string } & Box)[] {
    return [...this.#held].flatMap(([ref, { element }]) => {
      const drawn = this.drawn(element);
      const { point, coveredBy } = this.aimAt(element);
      if (drawn === null || point === null || coveredBy !== null) return [];
      const seen = this.#dom.intersect(this.#dom.box(drawn), this.#dom.clip(drawn));
      const { left, top, right, bottom } = this.#dom.intersect(seen, this.#dom.viewport());
      return [{ ref, left, top, right, bottom }];
    });
  }

  #keyOf({ element, scrolls }: Found): string {
    const role = this.#describer.role(element, scrolls);
    const name = this.#names.name(element, role);
    return JSON.stringify([role, name, this.#groups.context(element, name)]);
  }
}
