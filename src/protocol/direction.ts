/** Directional overrides, embeddings and isolates: they turn round text that stands after theirs. */
export const DIRECTION_CONTROL: RegExp = /[\u202A-\u202E\u2066-\u2069]/u

const DIRECTION_CONTROLS = new RegExp(DIRECTION_CONTROL, 'gu')
/** A letter that is written from right to left, or a mark that says so. */
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Adlam}\p{Script=Hanifi_Rohingya}\u061C\u200F]/u

/** A text without controls of direction: the door refuses them, an older store may hold them. */
export function undirected(text: string): string {
  return text.replace(DIRECTION_CONTROLS, '')
}

/**
 * Somebody's words amid our own in plain text: they cannot change the direction of what stands around them. Words that
 * run from left to right stay as they are.
 */
export function isolated(text: string): string {
  const plain = undirected(text)
  return RIGHT_TO_LEFT.test(plain) ? `\u2068${plain}\u2069` : plain
}
