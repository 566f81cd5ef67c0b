const NUMBER = /^-?\d+(?:\.\d+)?$/
/** What a spreadsheet takes for the beginning of a formula, in wide characters too, whatever blanks stand before it. */
const FORMULA = /^(?:\s*[=+\-@＝＋－＠]|[\t\r])/u

/** The text of a CSV cell: one that a spreadsheet would run gets an apostrophe before it; numbers keep their minus. */
export function unrunCell(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
}
