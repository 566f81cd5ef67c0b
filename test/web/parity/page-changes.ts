/** A way to falsify a page. `of` returns falsified copies; `pagesLeast` pages must have some. */
export type Lie = Readonly<{ name: string; pagesLeast: number; of(page: string): readonly string[] }>

const CHROME = /<(nav|form|aside|section|div)\b[^>]*data-chrome[^]*?<\/\1>|<details class="drawer"[^]*$/g
/** Maximum falsified copies of one page by one pattern, spread over the page. */
const LIES_MAX = 6

/** Matches of a pattern in a page's `main`, outside its chrome. */
export function placesOf(page: string, pattern: RegExp): readonly RegExpExecArray[] {
  const [from, to] = [page.indexOf('<main'), page.indexOf('</main>')]
  const chrome = [...page.matchAll(CHROME)].map(({ index, 0: text }) => [index, index + text.length] as const)
  return [...page.matchAll(pattern)].filter(
    ({ index }) =>
      index > from && index < to && chrome.every(([begin, end]) => index < begin || index >= end),
  )
}

/** A copy of the page for each match with a changed text; unchanged copies are left out. */
export function changedAt(
  page: string,
  pattern: RegExp,
  change: (match: RegExpExecArray, all: readonly RegExpExecArray[]) => string,
): readonly string[] {
  const all = placesOf(page, pattern)
  const step = Math.max(1, Math.floor(all.length / LIES_MAX))
  return all
    .filter((_, index) => index % step === 0)
    .map(
      (match) => page.slice(0, match.index) + change(match, all) + page.slice(match.index + match[0].length),
    )
    .filter((lie) => lie !== page)
}
