/// <reference lib="dom" />
import type { ElementState } from '../../../benchmarks/contract.ts';
import type { Dom } from './dom.ts';
import type { VisibleText } from './text.ts';

/**
 * Role, value and states of an element: ARIA where the page speaks it, and what a person reads off the looks where
 * it does not (a toggle's class). Runs in the page (see dom.ts).
 */
export class Describer {
  readonly #dom: Dom;
  readonly #text: VisibleText;
  readonly #inputRoles: Readonly<Record<string, string>> = {
    checkbox: 'checkbox',
    radio: 'radio',
    range: 'slider',
    number: 'spinbutton',
    search: 'searchbox',
    button: 'button',
    submit: 'button',
    reset: 'button',
    image: 'button',
    color: 'button',
    file: 'button',
  };
  readonly #tagRoles: Readonly<Record<string, string>> = {
    a: 'link',
    area: 'link',
    button: 'button',
    summary: 'button',
    textarea: 'textbox',
    option: 'option',
    img: 'img',
    li: 'listitem',
    tr: 'row',
    td: 'cell',
    th: 'columnheader',
    h1: 'heading',
    h2: 'heading',
    h3: 'heading',
    h4: 'heading',
    h5: 'heading',
    h6: 'heading',
  };

  constructor(dom: Dom, text: VisibleText) {
    this.#dom = dom;
    this.#text = text;
  }

  // ---- role --------------------------------------------------------------------------------------------------

  role(element: Element, scrolls: boolean): string {
    const explicit = this.#dom.attribute(element, 'role')?.trim().split(/\s+/)[0]?.toLowerCase();
    if (explicit && explicit !== 'none' && explicit !== 'presentation') return explicit;
    if (element instanceof HTMLInputElement) return this.#inputRole(element);
    if (element instanceof HTMLSelectElement) {
      return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    }
    if (this.isEditableContent(element)) return 'textbox';
    const tag = this.#dom.tag(element);
    if (tag === 'a' && !this.#dom.has(element, 'href')) return 'generic';
    return this.#tagRoles[tag] ?? (scrolls ? 'region' : 'generic');
  }

  #inputRole(input: HTMLInputElement): string {
    const role = this.#inputRoles[input.type];
    if (role !== undefined) return role;
    return this.#dom.has(input, 'list') ? 'combobox' : 'textbox';
  }

  isEditableContent(element: Element): boolean {
    return element instanceof HTMLElement && this.#dom.matches(element, '[contenteditable]')
      ? this.#dom.attribute(element, 'contenteditable') !== 'false'
      : false;
  }

  // ---- value -------------------------------------------------------------------------------------------------

  isTextField(element: Element): boolean {
    return (
      element instanceof HTMLTextAreaElement ||
      (element instanceof HTMLInputElement && this.#inputRoles[element.type] === undefined) ||
      (element instanceof HTMLInputElement && ['number', 'search'].includes(element.type)) ||
      this.isEditableContent(element)
    );
  }

  value(element: Element): string | null {
    if (element instanceof HTMLInputElement) return this.#inputValue(element);
    if (element instanceof HTMLTextAreaElement) return element.value;
    if (element instanceof HTMLSelectElement) {
      return [...element.selectedOptions].map((option) => this.optionLabel(option)).join(', ');
    }
    if (this.isEditableContent(element)) return this.#text.lines(element, 2_000).lines.join('\n');
    return this.#dom.attribute(element, 'aria-valuetext') ?? this.#dom.attribute(element, 'aria-valuenow');
  }

  #inputValue(input: HTMLInputElement): string | null {
    if (input.type === 'password') return '•'.repeat(input.value.length);
    return this.isTextField(input) || input.type === 'range' || input.type === 'color' ? input.value : null;
  }

  options(element: Element): string[] {
    if (!(element instanceof HTMLSelectElement)) return [];
    return [...element.options].slice(0, 100).map((option) => this.optionLabel(option));
  }

  optionLabel(option: HTMLOptionElement): string {
    return option.label.replace(/\s+/g, ' ').trim();
  }

  // ---- states ------------------------------------------------------------------------------------------------

  isDisabled(element: Element): boolean {
    return (
      this.#dom.matches(element, ':disabled') ||
      this.#dom.closest(element, (at) => this.#dom.has(at, 'inert')) !== null ||
      this.#dom.attribute(element, 'aria-disabled') === 'true'
    );
  }

  states(element: Element, role: string): ElementState[] {
    const states: ElementState[] = [];
    const chosen = this.chosen(element, role);
    if (chosen !== null) states.push(chosen);
    const expanded = this.#expanded(element);
    if (expanded !== null) states.push(expanded);
    if (this.isDisabled(element)) states.push('disabled');
    if (this.#dom.focused() === element) states.push('focused');
    if (this.#dom.matches(element, ':required') || this.#dom.attribute(element, 'aria-required') === 'true') {
      states.push('required');
    }
    return states;
  }

  /** The position of anything that can be switched, picked or marked; null for anything that cannot. */
  chosen(element: Element, role: string): ElementState | null {
    if (element instanceof HTMLInputElement && (element.type === 'checkbox' || element.type === 'radio')) {
      return element.checked ? 'checked' : 'unchecked';
    }
    const checked = this.#dom.attribute(element, 'aria-checked');
    if (checked !== null) return checked === 'true' ? 'checked' : 'unchecked';
    const pressed = this.#dom.attribute(element, 'aria-pressed');
    if (pressed !== null) return pressed === 'true' ? 'on' : 'off';
    const selected =
      this.#dom.attribute(element, 'aria-selected') ?? this.#dom.attribute(element, 'aria-current');
    if (selected !== null) return selected === 'false' ? null : 'selected';
    return role === 'textbox' || role === 'combobox' ? null : this.#chosenByClass(element);
  }

  #chosenByClass(element: Element): ElementState | null {
    const words = (this.#dom.attribute(element, 'class') ?? '').toLowerCase().split(/[\s_-]+/);
    const isOneOf = (...known: string[]) => words.some((word) => known.includes(word));
    const on = isOneOf('on', 'checked', 'saved', 'liked', 'bookmarked', 'starred', 'pinned');
    if (isOneOf('toggle', 'switch')) return on || isOneOf('active', 'enabled') ? 'on' : 'off';
    if (on) return 'on';
    return isOneOf('active', 'selected', 'current') ? 'selected' : null;
  }

  #expanded(element: Element): ElementState | null {
    const expanded = this.#dom.attribute(element, 'aria-expanded');
    if (expanded !== null) return expanded === 'true' ? 'expanded' : 'collapsed';
    const details = this.#dom.tag(element) === 'summary' ? this.#dom.parent(element) : null;
    return details instanceof HTMLDetailsElement ? (details.open ? 'expanded' : 'collapsed') : null;
  }
}
