import { withoutInvisible } from './addresses/look-alikes.ts'

/** Directional overrides, embeddings and isolates. They may reverse the text after them. */
export const DIRECTION_CONTROL: RegExp = /[\u202A-\u202E\u2066-\u2069]/u

const DIRECTION_CONTROLS = new RegExp(DIRECTION_CONTROL, 'gu')
/** A letter of a right-to-left script, or a right-to-left mark. */
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}\u061C\u200F]/u

/** Removes direction controls. Publishing refuses them, but an older store may contain them. */
export function removeDirection(text: string): string {
  return text.replace(DIRECTION_CONTROLS, '')
}

/** Whether a text shows nothing: only blanks, invisible characters, blank letters, and marks without a letter. */
export function showsNothing(text: string): boolean {
  return withoutInvisible(text).trim() === ''
}

/** Isolates foreign text, so that it does not reverse the plain text around it. Left-to-right text is unchanged. */
export function isolateDirection(text: string): string {
  const plain = removeDirection(text)
  return RIGHT_TO_LEFT.test(plain) ? `\u2068${plain}\u2069` : plain
}

const NUMBER = /^-?\d+(?:\.\d+)?$/
/** Start of a spreadsheet formula, also in wide characters and after blanks. */
const FORMULA = /^(?:\s*[=+\-@＝＋－＠]|[\t\r])/u

/** Text of a CSV cell. Adds an apostrophe before text that a spreadsheet would run as a formula, except numbers. */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
}
