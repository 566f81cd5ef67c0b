/** What a script has put into a page, and what a reader has typed into it, is left as it is. */
const STILL = 'form, .slider, svg .reading'
/** Folds that a reader opened, and buttons that a script has shown. */
const OWN: ReadonlySet<string> = new Set(['open', 'hidden'])

/**
 * Makes what a page shows the same as a later answer of its own address: only what differs is touched, so that focus,
 * a selection, open folds and the place of reading stay.
 */
export function morph(old: Element, next: Element): void {
  for (const name of old.getAttributeNames()) {
    if (!OWN.has(name) && !next.hasAttribute(name)) old.removeAttribute(name)
  }
  for (const { name, value } of next.attributes) {
    if (!OWN.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value)
  }
  if (old.tagName === 'TBODY') return morphRows(old, next)
  const [olds, nexts] = [[...old.childNodes].filter(isOurs), [...next.childNodes]]
  for (const [index, node] of nexts.entries()) {
    const here = olds[index]
    if (here === undefined) old.append(node)
    else if (here.nodeName !== node.nodeName) here.replaceWith(node)
    else if (here instanceof Element && node instanceof Element) {
      if (!here.matches(STILL)) morph(here, node)
    } else if (here.nodeValue !== node.nodeValue) here.nodeValue = node.nodeValue
  }
  for (const extra of olds.slice(nexts.length)) extra.remove()
}

const isOurs = (node: Node): boolean => !(node instanceof Element && node.matches('.reading'))

/** Rows are known by what they are about: one that stays is never moved. */
function morphRows(old: Element, next: Element): void {
  const known = rowsByKey(old)
  let before = old.firstElementChild
  for (const [key, row] of rowsByKey(next)) {
    const here = known.get(key)
    known.delete(key)
    if (here === undefined) {
      row.classList.add('fresh')
      old.insertBefore(row, before)
      continue
    }
    // What has gone is passed over here, and taken out below.
    if (here !== before && !isAfter(before, here)) old.insertBefore(here, before)
    else before = here.nextElementSibling
    morph(here, row)
  }
  for (const gone of known.values()) gone.remove()
}

function isAfter(first: Element | null, second: Element): boolean {
  return first !== null && (first.compareDocumentPosition(second) & Node.DOCUMENT_POSITION_FOLLOWING) > 0
}

/** Rows by their first link or moment, which no script writes otherwise; several about one thing are counted. */
function rowsByKey(list: Element): Map<string, Element> {
  const rows = new Map<string, Element>()
  for (const row of list.children) {
    const named = row.querySelector('th a, th time, td time')
    const key =
      named?.getAttribute('href') ?? named?.getAttribute('datetime') ?? row.firstElementChild?.textContent
    let count = 0
    while (rows.has(`${key} ${count}`)) count += 1
    rows.set(`${key} ${count}`, row)
  }
  return rows
}

/** How many rows of a later answer a list does not have yet. */
export function newRows(list: Element, next: Element): number {
  const known = rowsByKey(list)
  return [...rowsByKey(next).keys()].filter((key) => !known.has(key)).length
}
