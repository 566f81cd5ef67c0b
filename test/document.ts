import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT: string = join(import.meta.dirname, '..')

/** The text of a file of the project. */
export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** A fenced block of a document: what stands behind its fence, its text, and the last line of prose before it. */
export type Block = Readonly<{ language: string; text: string; before: string; line: number }>

/** The fenced blocks of a document in their order. */
export function blocksOf(document: string): readonly Block[] {
  const blocks: Block[] = []
  let before = ''
  let open: { language: string; lines: string[]; line: number } | null = null
  for (const [index, text] of document.split('\n').entries()) {
    const fence = /^```(.*)$/.exec(text)
    if (fence === null) {
      if (open !== null) open.lines.push(text)
      else if (text.trim() !== '') before = text.trim()
    } else if (open === null) {
      open = { language: fence[1] ?? '', lines: [], line: index + 1 }
    } else {
      blocks.push({ language: open.language, text: open.lines.join('\n'), before, line: open.line })
      open = null
    }
  }
  if (open !== null) throw new Error(`the block of line ${open.line} does not end`)
  return blocks
}

/** The links of a document to other files, without what follows `#`. */
export function linksOf(document: string): readonly string[] {
  return [...document.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.split('#')[0] ?? '')
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
}

/** JSON for a document: on one line what fits one, everything else broken at its commas. */
export function formatJson(value: unknown, width: number, indent = ''): string {
  const line = JSON.stringify(value, null, 1)
    .replaceAll(/\n\s*/g, ' ')
    .replaceAll(/\[ (.*?) \]/g, '[$1]')
  if (indent.length + line.length <= width || Object(value) !== value) return line
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    const items = value.map((each) => `${inner}${formatJson(each, width, inner)}`)
    return `[\n${items.join(',\n')}\n${indent}]`
  }
  const members = Object.entries(Object(value)).map(([key, each]) => {
    const name = `${JSON.stringify(key)}: `
    return `${inner}${name}${formatJson(each, width - name.length, inner)}`
  })
  return `{\n${members.join(',\n')}\n${indent}}`
}
