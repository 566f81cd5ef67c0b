import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Makes the font of the pages' headings, `src/web/fonts/headings.woff2`, out of the bold font of link previews. The made
 * file is in the tree. npm downloads the packages that make it: few need them.
 *
 *     npm run font
 */

const SUBSETTER = 'subset-font@2.9.0'
type Subset = (
  font: Uint8Array,
  letters: string,
  options: Readonly<{ targetFormat: 'woff2'; keepFeatures: readonly string[] }>,
) => Promise<Uint8Array>

const FONTS = join(import.meta.dirname, '..', 'src', 'web', 'fonts')

/** Blocks of Unicode that a heading may need: ASCII, Latin-1 and Latin Extended-A, by first and last code point. */
const BLOCKS = [
  [0x20, 0x7e],
  [0xa0, 0x17f],
] as const
/** Letters of Romanian, the capital ß, and signs of European texts. */
const FURTHER = 'ȘșȚțẞ‐‑–—‘’‚“”„†•…‹›€™−'
/** Features that the font keeps: kerning, ligatures, accents, letters of one language, and proportional figures. */
const FEATURES = ['kern', 'liga', 'ccmp', 'locl', 'pnum']

const folder = mkdtempSync(join(tmpdir(), 'daybook-font-'))
try {
  const words = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', SUBSETTER]
  execFileSync('npm', words, { stdio: 'inherit' })
  const subset: Subset = createRequire(join(folder, 'node_modules/'))('subset-font')
  const letters = BLOCKS.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)),
  )
  const made = await subset(
    readFileSync(join(FONTS, 'source-serif-4-bold.ttf')),
    letters.join('') + FURTHER,
    { targetFormat: 'woff2', keepFeatures: FEATURES },
  )
  writeFileSync(join(FONTS, 'headings.woff2'), made)
  process.stdout.write(`headings.woff2 has ${made.byteLength} bytes\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
