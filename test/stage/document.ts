import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './places.ts'

/** Text of a file of the project. */
export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

/** A fenced block of a document: its language, its text, and the last line of prose before it. */
export type Block = Readonly<{ language: string; text: string; before: string; line: number }>

/** Fenced blocks of a document, in order. */
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
  if (open !== null) throw new Error(`the block at line ${open.line} has no end`)
  return blocks
}

/** Links of a document to other files, without their fragments. */
export function linksOf(document: string): readonly string[] {
  return [...document.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.split('#')[0] ?? '')
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
}

/** Formats JSON for a document: on one line when it fits, else with as many members to a line as fit. */
export function formatJson(value: unknown, width: number, indent = ''): string {
  const line = JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ')
  if (indent.length + line.length <= width || Object(value) !== value) return line
  const inner = `${indent}  `
  const isList = Array.isArray(value)
  const members = Object.entries(Object(value)).map(([key, each]) => {
    const text = formatJson(each, width, inner)
    return isList ? text : `${JSON.stringify(key)}: ${text}`
  })
  const [open, close] = isList ? '[]' : '{}'
  return `${open}\n${packed(members, width, inner)}\n${indent}${close}`
}

function packed(members: readonly string[], width: number, indent: string): string {
  const lines: string[] = []
  for (const member of members) {
    const last = lines.at(-1)
    const fits = last !== undefined && last.length + member.length + 2 <= width
    const mayJoin = fits && !member.includes('\n') && !last.includes('\n')
    if (mayJoin) lines[lines.length - 1] = `${last}, ${member}`
    else lines.push(`${indent}${member}`)
  }
  return lines.join(',\n')
}
