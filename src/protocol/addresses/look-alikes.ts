/**
 * Pairs of a letter and the Latin letter or digit that it looks like, from the Unicode confusables (UTS 39). Unicode
 * folds I and 1 to l; here each keeps its own form. Small letters in the shape of a capital are added.
 */
const PAIRS = [
  // Cyrillic
  'АAВBСCԌGЕEЅSІIӀIЈJКKМMНHОOРPТTУYҮYХXԜWѴVЗ3Ӡ3Ꙅ2ԚQҺhԀdҒF',
  'аaвbсcԁdеeҽeԍgһhнhіiꙇiӏlјjкkмmоoпnрpԛqгrѕsтtиuѵvԝwѡwхxуyүyб6Ьbьbз3ӡ3ҙ3ғf',
  // Greek
  'ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXϜFϹCͿJϺM',
  'αaβbεeιiηnκkμuνvοoσoρpτtυuωwχxγyϲcϳjᴦrπnηn',
  // Armenian
  'ՕOՏSՍUքfցgհhոnռnօoգqզqսuաw',
  // Latin letters of other alphabets, and small capitals
  'ɑaɡgıiɩiɪIʀRʏYɴNɢGʜHʟLʙBᴀAᴄCᴅDᴇEᴊJᴋKᴍMᴏOᴘPᴛTᴜUᴠVᴡWᴢZꜰFꜱSꞙfɯwʋuɣyƖlǀlꞲJꞴBƧ2Ʒ3Ȝ3ƽsƼ5Ȣ8',
  'ȷjɋqꞯqʠqɗd℮e',
  // Coptic, Lisu and Cherokee
  'ⲀAⲂBⲌZⲎHⲒIⲔKⲘMⲚNⲞOⲢPⲤCⲦTⲨYⲬXⲟoⲣpⲥc',
  'ꓐBꓑPꓓDꓔTꓖGꓗKꓙJꓚCꓜZꓝFꓟMꓠNꓡLꓢSꓣRꓦVꓧHꓪWꓫXꓬYꓮAꓰEꓲIꓳOꓴU',
  'ᎠDᎡRᎢTᎥiᎪAᎫJᎬEᎳWᎷMᎻHᎽYᏀGᏂhᏃZᏎ4ᏏbᏒRᏔWᏕSᏙVᏚSᏞLᏟCᏢPᏦKᏧdᏳGᏴB',
  // Canadian syllables
  'ᗅAᗩAᗷBᑕCᗞDᗪDᖴFᕼHᒍJᒪLᗰMᑎNᑭPᑫqᖇRᔕSᑌUᐯVᗯW᙭XᘔZ',
  '×x✕x∣l',
].join('')

const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const DIGITS = '123456789'
/** Letters and digits in frames, by the first one of a row. They have no compatibility form of one character. */
const FRAMED: readonly (readonly [first: number, row: string])[] = [
  // In parentheses, in negative circles, in negative squares, and in flags.
  [0x249c, CAPITALS.toLowerCase()],
  ...[0x1f110, 0x1f150, 0x1f170, 0x1f1e6].map((first) => [first, CAPITALS] as const),
  // In parentheses, with a full stop, with a comma, and in circles of several kinds.
  ...[0x2474, 0x2488, 0x2776, 0x2780, 0x278a, 0x24f5].map((first) => [first, DIGITS] as const),
  [0x1f100, '00123456789'],
  [0x1f10b, '00'],
  [0x24ff, '0'],
]

const LATIN: ReadonlyMap<string, string> = new Map([
  ...(PAIRS.match(/../gu) ?? []).map((pair) => [pair.slice(0, -1), pair.slice(-1)] as const),
  ...FRAMED.flatMap(([first, row]) =>
    Array.from(row, (letter, at) => [String.fromCodePoint(first + at), letter] as const),
  ),
])
const FOREIGN = new RegExp(`[${[...LATIN.keys()].join('')}]`, 'gu')

// Characters that are invisible between letters: marks, soft hyphens, joiners, zero-width blanks, blank letters and
// control characters. Tab, line feed, vertical tab, form feed and carriage return are blanks and stay.
const INVISIBLE =
  /(?![\t-\r])[\p{M}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u{13441}\u{13442}]/gu

/** The text in compatibility form, without invisible characters, and with Latin letters for look-alikes. */
export function foldLookAlikes(text: string): string {
  // Folds before the compatibility form too, which changes the lunate sigma and splits a letter in parentheses.
  return foldLetters(withoutInvisible(foldLetters(text).normalize('NFKD')))
}

/** The text without the characters that nobody sees between letters. */
export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, '')
}

function foldLetters(text: string): string {
  return text.replace(FOREIGN, (letter) => LATIN.get(letter) ?? letter)
}
