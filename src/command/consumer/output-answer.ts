import { styleText } from 'node:util'
import { isJsonObject, type JsonObject } from '../../verify/reading/json-values.ts'
import { printable } from '../terminal/output.ts'
import { groupAmount } from './output-events.ts'

/** Formats an answer of the API for a terminal: single figures as lines, then each list as a table. */
export function formatAnswer(answer: unknown, drawn: boolean): string {
  if (!isJsonObject(answer)) return `${cell(answer)}\n`
  const bold = (text: string): string => (drawn ? styleText('bold', text, { validateStream: false }) : text)
  const fields = flat(answer)
  const single = fields.filter(([, value]) => !isTable(value))
  const width = Math.max(0, ...single.map(([name]) => name.length))
  const figures = single.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}\n`).join('')
  const tables = fields.flatMap(([name, value]) =>
    isTable(value) ? [`${bold(name)}\n${formatTable(value)}`] : [],
  )
  return [figures, ...tables].filter((part) => part !== '').join('\n')
}

function isTable(value: unknown): value is readonly JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every(isJsonObject)
}

/** Fields of an object and its nested objects, by dotted names. Omits `atMs` where there is `at`. */
function flat(fields: JsonObject, prefix = ''): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(fields).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
    if (key.endsWith('Ms') && key.slice(0, -2) in fields) return []
    const name = printable(`${prefix}${key}`)
    return isJsonObject(value) ? flat(value, `${name}.`) : [[name, value]]
  })
}

/** Formats rows as a table with the names of their fields above. */
export function formatTable(rows: readonly JsonObject[]): string {
  const cells = rows.map((row) => new Map(flat(row).map(([name, value]) => [name, cell(value)])))
  const names = [...new Set(cells.flatMap((row) => [...row.keys()]))]
  const columns = names.map((name) => {
    const texts = cells.map((row) => row.get(name) ?? '')
    const width = texts.reduce((most, text) => Math.max(most, text.length), name.length)
    const isNumber = texts.every((text) => /^(?:-?[\d,]+(?:\.\d+)?|–?)$/.test(text))
    return { name, texts, pad: (text: string) => (isNumber ? text.padStart(width) : text.padEnd(width)) }
  })
  const line = (of: (column: (typeof columns)[number]) => string): string =>
    `${columns
      .map((column) => column.pad(of(column)))
      .join('  ')
      .trimEnd()}\n`
  return line(({ name }) => name) + cells.map((_, index) => line(({ texts }) => texts[index] ?? '')).join('')
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (Array.isArray(value)) return value.map(cell).join(', ')
  if (typeof value === 'string') return /^-?\d+\.\d+$/.test(value) ? groupAmount(value) : printable(value)
  return printable(JSON.stringify(value))
}
