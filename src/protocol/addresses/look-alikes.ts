/**
 * Pairs of a letter and the Latin letter or digit that it looks like. After the confusables of Unicode (UTS 39), which
 * fold I and 1 to l; here each letter keeps its own form. Small letters whose shape is that of a capital are added.
 */
const PAIRS = [
  // Cyrillic
  'АAВBСCԌGЕEЅSІIӀIЈJКKМMНHОOРPТTУYҮYХXԜWѴVЗ3Ӡ3Ꙅ2',
  'аaвbсcԁdеeҽeԍgһhнhіiꙇiӏlјjкkмmоoпnрpԛqгrѕsтtиuѵvԝwѡwхxуyүyбbЬbьb',
  // Greek
  'ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXϜFϹCͿJϺM',
  'αaβbεeιiηnκkμuνvοoσoρpτtυuωwχxγyϲcϳjᴦr',
  // Armenian
  'ՕOՏSՍUքfցgհhոnռnօoգqզqսuաw',
  // Latin letters of other alphabets, and small capitals
  'ɑaɡgıiɩiɪIʀRʏYɴNɢGʜHʟLʙBᴀAᴄCᴅDᴇEᴊJᴋKᴍMᴏOᴘPᴛTᴜUᴠVᴡWᴢZꜰFꜱSꞙfɯwʋuɣyƖlǀlꞲJꞴBƧ2Ʒ3Ȝ3ƽsƼ5Ȣ8',
  '×x✕x∣l',
].join('')

const LATIN: ReadonlyMap<string, string> = new Map(
  (PAIRS.match(/../gu) ?? []).map((pair) => [pair.slice(0, -1), pair.slice(-1)]),
)
const FOREIGN = new RegExp(`[${[...LATIN.keys()].join('')}]`, 'gu')

// Invisible between letters: marks, soft hyphens, joiners, zero-width blanks, blank letters, and control characters but
// for those that are blanks: tab, line feed, vertical tab, form feed and carriage return.
const INVISIBLE =
  /(?![\t-\r])[\p{M}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{13441}\u{13442}]/gu
// Letters in negative circles and squares, and flags' letters, have no compatibility form.
const FRAMED = /[\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}\u{1f1e6}-\u{1f1ff}]/gu
const FRAMED_RUNS = [0x1f150, 0x1f170, 0x1f1e6] as const

/** The text in compatibility form and without invisible characters, each look-alike letter as the Latin one. */
export function foldLookAlikes(text: string): string {
  // The first pass is before the compatibility form, which turns the lunate sigma into another letter.
  const letters = withoutInvisible(foldLetters(text).normalize('NFKD')).replace(FRAMED, framedLetter)
  return foldLetters(letters)
}

/** The text without the characters that nobody sees between letters. */
export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, '')
}

function foldLetters(text: string): string {
  return text.replace(FOREIGN, (letter) => LATIN.get(letter) ?? letter)
}

function framedLetter(framed: string): string {
  const code = framed.codePointAt(0) ?? 0
  const first = FRAMED_RUNS.findLast((run) => code >= run) ?? code
  return String.fromCharCode(65 + code - first)
}
