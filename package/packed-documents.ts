import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const LINK = /!?\[([^\]]*)\]\(([^)\s]+)\)/g
/** A line of a list that begins with a link, and the lines that continue it. */
const LINKED_LINE = /^- \[[^\]]*\]\(([^)\s]+)\)[^\n]*\n(?: {2}[^\n]*\n)*/gm
/** A heading without text below it. */
const EMPTY_SECTION = /^## [^\n]*\n+(?=## |(?![^]))/gm

/**
 * The documents of a package that change when links to files outside of it are removed. Their words stay, but a line
 * about such a file goes. `files` is that field of the manifest.
 */
export function withoutDeadLinks(
  root: string,
  documents: readonly string[],
  files: readonly string[],
): readonly Readonly<{ path: string; text: string }>[] {
  return documents
    .filter((path) => path !== 'README.md' && isPacked(path, files))
    .map((path) => {
      const isDead = (link: string): boolean => {
        const target = link.split('#')[0] ?? ''
        return target !== '' && !/^[a-z]+:/.test(target) && !isPacked(join(dirname(path), target), files)
      }
      const old = readFileSync(join(root, path), 'utf8')
      const text = old
        .replaceAll(LINKED_LINE, (line, target: string) => (isDead(target) ? '' : line))
        .replaceAll(EMPTY_SECTION, '')
        .replaceAll(LINK, (link, words: string, target: string) => (isDead(target) ? words : link))
      return { path, text, isSame: text === old }
    })
    .filter(({ isSame }) => !isSame)
}

/** Whether the package has a file of the clone. npm adds the README and the licence to the field `files`. */
function isPacked(path: string, files: readonly string[]): boolean {
  const isIn = (entry: string): boolean => path === entry || path.startsWith(`${entry}/`)
  const left = files.filter((entry) => entry.startsWith('!')).map((entry) => entry.slice(1))
  return [...files, 'README.md', 'LICENSE'].some(isIn) && !left.some(isIn)
}
