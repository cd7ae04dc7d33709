/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * Runs in the page, in an isolated world: the page's own scripts can neither see nor replace anything here.
 * The class is sent as source text, so it refers to nothing outside itself but the DOM.
 *
 * What a page can still bend is the DOM itself: `<input name="children">` hides the `children` of its form, and
 * `<img name="body">` the document's body. Every read of a foreign node therefore goes through the prototype.
 */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** How an element is drawn. */
export interface Look {
  /** False for anything that is not laid out, such as the content of a closed `<details>`. */
  readonly rendered: boolean;
  readonly display: string;
  readonly position: string;
  /** Neither `visibility: hidden` nor collapsed. */
  readonly shown: boolean;
  readonly transparent: boolean;
  /** Has the hand as its mouse cursor. */
  readonly pointer: boolean;
  /** Cuts what overflows it. */
  readonly clips: boolean;
  /** Has a scroll bar for what overflows it. */
  readonly scrollable: boolean;
}

export class Dom {
  readonly #childNodes = Dom.#getter(Node.prototype, 'childNodes');
  readonly #parentNode = Dom.#getter(Node.prototype, 'parentNode');
  readonly #nodeType = Dom.#getter(Node.prototype, 'nodeType');
  readonly #nodeValue = Dom.#getter(Node.prototype, 'nodeValue');
  readonly #connected = Dom.#getter(Node.prototype, 'isConnected');
  readonly #localName = Dom.#getter(Element.prototype, 'localName');
  readonly #shadowRoot = Dom.#getter(Element.prototype, 'shadowRoot');
  readonly #previous = Dom.#getter(Element.prototype, 'previousElementSibling');
  readonly #next = Dom.#getter(Element.prototype, 'nextElementSibling');
  readonly #scrollHeight = Dom.#getter(Element.prototype, 'scrollHeight');
  readonly #clientHeight = Dom.#getter(Element.prototype, 'clientHeight');
  readonly #scrollTop = Dom.#getter(Element.prototype, 'scrollTop');
  readonly #scrollLeft = Dom.#getter(Element.prototype, 'scrollLeft');
  readonly #documentElement = Dom.#getter(Document.prototype, 'documentElement');
  readonly #scrollingElement = Dom.#getter(Document.prototype, 'scrollingElement');
  readonly #documentTitle = Dom.#getter(Document.prototype, 'title');
  readonly #readyState = Dom.#getter(Document.prototype, 'readyState');
  readonly #activeElement = Dom.#getter(Document.prototype, 'activeElement');

  /** Computed styles are what an observation costs most, so each element is looked at once a call. */
  readonly #looks = new Map<Element, Look>();
  readonly #clips = new Map<Element, Box>();

  static #getter<T extends object, K extends keyof T>(prototype: T, name: K): (node: T) => T[K] {
    const get = Object.getOwnPropertyDescriptor(prototype, name)?.get;
    if (get === undefined) throw new Error(`This browser has no ${String(name)}.`);
    return (node) => get.call(node);
  }

  // ---- tree --------------------------------------------------------------------------------------------------

  /** Of a document that has lost its own, or does not have it yet, an empty one. */
  root(): Element {
    const root: Element | null = this.#documentElement(document);
    return root ?? Document.prototype.createElement.call(document, 'html');
  }

  /** What scrolls when the page does: the body of a page in quirks mode. */
  scrollingElement(): Element {
    return this.#scrollingElement(document) ?? this.root();
  }

  title(): string {
    return this.#documentTitle(document);
  }

  isLoading(): boolean {
    return this.#readyState(document) === 'loading';
  }

  isConnected(element: Element): boolean {
    return this.#connected(element);
  }

  tag(element: Element): string {
    return this.#localName(element);
  }

  /** Tag and first class: the classes that follow tell an unread row from a read one. */
  kind(element: Element): string {
    const [first = ''] = (this.attribute(element, 'class') ?? '').trim().split(/\s+/, 1);
    return `${this.tag(element)}.${first}`;
  }

  /** Text of a text node, null for any other node. */
  textOf(node: Node): string | null {
    return this.#nodeType(node) === 3 ? (this.#nodeValue(node) ?? '') : null;
  }

  isElement(node: Node | null): node is Element {
    return node !== null && this.#nodeType(node) === 1;
  }

  /** Children as they are laid out: an open shadow tree in place of its host's own, a slot's guests in its place. */
  children(element: Element): Node[] {
    const shadow = this.#shadowRoot(element);
    if (shadow) return [...this.#childNodes(shadow)];
    if (element instanceof HTMLSlotElement) {
      const guests = element.assignedNodes({ flatten: true });
      if (guests.length > 0) return guests;
    }
    return [...this.#childNodes(element)];
  }

  /** Parent element, across the border of a shadow tree. */
  parent(element: Element): Element | null {
    const parent = this.#parentNode(element);
    if (parent instanceof ShadowRoot) return parent.host;
    return this.isElement(parent) ? parent : null;
  }

  previousSibling(element: Element): Element | null {
    return this.#previous(element);
  }

  nextSibling(element: Element): Element | null {
    return this.#next(element);
  }

  contains(ancestor: Element, node: Element | null): boolean {
    for (let at = node; at !== null; at = this.parent(at)) if (at === ancestor) return true;
    return false;
  }

  closest(element: Element, test: (ancestor: Element) => boolean): Element | null {
    for (let at: Element | null = element; at !== null; at = this.parent(at)) if (test(at)) return at;
    return null;
  }

  query(within: Element, selector: string): Element | null {
    return Element.prototype.querySelector.call(within, selector);
  }

  queryAll(within: Element, selector: string): Element[] {
    return [...Element.prototype.querySelectorAll.call(within, selector)];
  }

  byId(near: Element, id: string): Element | null {
    const root = Node.prototype.getRootNode.call(near);
    if (root instanceof ShadowRoot) return root.getElementById(id);
    return Document.prototype.getElementById.call(document, id);
  }

  attribute(element: Element, name: string): string | null {
    return Element.prototype.getAttribute.call(element, name);
  }

  has(element: Element, name: string): boolean {
    return Element.prototype.hasAttribute.call(element, name);
  }

  matches(element: Element, selector: string): boolean {
    return Element.prototype.matches.call(element, selector);
  }

  /** The element that has the keyboard, inside shadow trees too. */
  focused(): Element | null {
    let active = this.#activeElement(document);
    for (let shadow = active && this.#shadowRoot(active); shadow?.activeElement; ) {
      active = shadow.activeElement;
      shadow = this.#shadowRoot(active);
    }
    return active;
  }

  // ---- layout ------------------------------------------------------------------------------------------------

  /** To be called whenever the page may have changed. */
  forget(): void {
    this.#looks.clear();
    this.#clips.clear();
  }

  style(element: Element): CSSStyleDeclaration {
    return getComputedStyle(element);
  }

  look(element: Element): Look {
    let look = this.#looks.get(element);
    if (look === undefined) {
      look = this.#readLook(element);
      this.#looks.set(element, look);
    }
    return look;
  }

  #readLook(element: Element): Look {
    const { display, position, visibility, opacity, cursor, overflowX, overflowY } = this.style(element);
    return {
      rendered: display === 'contents' || Element.prototype.checkVisibility.call(element),
      display,
      position,
      shown: visibility === 'visible',
      transparent: opacity === '0',
      pointer: cursor === 'pointer',
      clips: overflowX !== 'visible' || overflowY !== 'visible',
      scrollable: overflowY === 'auto' || overflowY === 'scroll',
    };
  }

  box(element: Element): Box {
    return Element.prototype.getBoundingClientRect.call(element);
  }

  /** Where the element is drawn: its boxes with an area, or those of its children when it has none itself. */
  boxes(element: Element): Box[] {
    const own = [...Element.prototype.getClientRects.call(element)].filter((box) => this.hasArea(box));
    if (own.length > 0) return own;
    return this.children(element)
      .filter((child) => this.isElement(child))
      .flatMap((child) =>
        [...Element.prototype.getClientRects.call(child)].filter((box) => this.hasArea(box)),
      );
  }

  viewport(): Box {
    return { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  }

  hasArea(box: Box): boolean {
    return box.right - box.left >= 1 && box.bottom - box.top >= 1;
  }

  intersect(a: Box, b: Box): Box {
    return {
      left: Math.max(a.left, b.left),
      top: Math.max(a.top, b.top),
      right: Math.min(a.right, b.right),
      bottom: Math.min(a.bottom, b.bottom),
    };
  }

  centre(box: Box): Point {
    return { x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2 };
  }

  /** The part of the viewport in which the element can be seen: what its ancestors do not cut off. */
  clip(element: Element): Box {
    const parent = this.parent(element);
    if (parent === null || this.look(element).position === 'fixed') return this.viewport();
    return this.#clipWithin(parent);
  }

  #clipWithin(ancestor: Element): Box {
    const known = this.#clips.get(ancestor);
    if (known !== undefined) return known;
    // What the root and the body cut off is what the viewport cuts off.
    const isPage = ancestor === this.root() || this.tag(ancestor) === 'body';
    const outer = isPage ? this.viewport() : this.clip(ancestor);
    const clip = this.look(ancestor).clips && !isPage ? this.intersect(outer, this.box(ancestor)) : outer;
    this.#clips.set(ancestor, clip);
    return clip;
  }

  /** True for a box that scrolls its overflow and has some. */
  scrolls(element: Element): boolean {
    return this.look(element).scrollable && this.#scrollHeight(element) - this.#clientHeight(element) > 8;
  }

  scrollHeight(element: Element): number {
    return this.#scrollHeight(element);
  }

  scrolled(element: Element): Point {
    return { x: this.#scrollLeft(element), y: this.#scrollTop(element) };
  }

  scrollBy(element: Element, options: ScrollToOptions): void {
    element.scrollBy(options);
    this.forget();
  }

  scrollIntoView(element: Element): void {
    Element.prototype.scrollIntoView.call(element, {
      block: 'center',
      inline: 'center',
      behavior: 'instant',
    });
    this.forget();
  }

  /** The innermost element drawn at a point of the viewport. */
  hit(point: Point): Element | null {
    let found = Document.prototype.elementFromPoint.call(document, point.x, point.y);
    for (let shadow = found && this.#shadowRoot(found); shadow; ) {
      const inner = shadow.elementFromPoint(point.x, point.y);
      if (inner === null || inner === found) break;
      found = inner;
      shadow = this.#shadowRoot(inner);
    }
    return found;
  }
}
