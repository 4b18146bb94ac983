// Elements without a framework.

type Child = Node | string | number | null | undefined | false;
type Props = Record<string, unknown>;

function fill(element: Element, props: Props, children: Child[]): void {
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on") && typeof value === "function") {
      element.addEventListener(key.slice(2), value as EventListener);
    } else if (key === "style") {
      // As properties: the page's policy forbids style attributes.
      for (const [name, text] of Object.entries(value as Record<string, string>)) {
        (element as HTMLElement).style.setProperty(name, text);
      }
    } else {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  fill(element, props, children);
  return element;
}

export function s(name: string, props: Props = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  fill(element, props, children);
  return element;
}

/** Replaces what an element holds. */
export function put(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  fill(element, {}, children);
}
