import {
  type ApiDocument,
  type DocumentTable,
  linkTo,
  mediaOf,
  type Operation,
  type ValueSchema,
} from './api-document.ts'

/** Field of an answer. Its name is a path with dots, `[]` for each element and `*` for any name. */
export type Field = Readonly<{
  name: string
  /** Type of its value in words; null when `of` gives it. */
  form: string | null
  /** Shared part: a schema of the document, `amount`, `price` or `moment`. */
  of: string | null
  nullable: boolean
  optional: boolean
  meaning: string
  /** Unit, when its type does not show it. */
  unit: string | null
}>

const BASE = '#/components/schemas/'

/** Samples by which patterns of texts are recognised. */
const TEXTS: readonly (readonly [like: string, of: 'amount' | 'price' | 'moment'])[] = [
  ['0.000000000', 'amount'],
  ['0.000000000000', 'price'],
  ['2026-10-01T00:00:00.000Z', 'moment'],
]

/** Descriptions of amount, price and moment, as Markdown. */
export function formsOf(token: string): readonly (readonly [name: string, description: string])[] {
  return [
    [
      'amount',
      `An amount of ${token} as a text with exactly nine decimals, \`"12.345678901"\`; only what is corrected or ` +
        'overpaid is negative. Never put it through floating point.',
    ],
    ['price', `What 1 ${token} costs in USD, as a text with exactly twelve decimals.`],
    [
      'moment',
      'Always a pair: `at`, a text in UTC with three decimals (`"2026-10-01T12:00:00.000Z"`), and `atMs`, the same ' +
        'as milliseconds since 1970. Where one is null, so is the other.',
    ],
  ]
}

/** The fields of an answer. */
export function fieldTable(fields: readonly Field[], token: string): DocumentTable {
  const units: Readonly<Record<string, string>> = {
    amount: token,
    price: `USD for 1 ${token}`,
    moment: 'UTC',
  }
  const rows = fields.map(({ name, form, of, nullable, optional, unit, meaning }) => [
    `\`${name}\`${of === 'moment' ? ', `…Ms`' : ''}`,
    `${of === null ? form : linkTo(of)}${nullable ? ' or null' : ''}${optional ? ', optional' : ''}`,
    units[of ?? ''] ?? unit ?? '–',
    meaning,
  ])
  return { head: ['Field', 'Type', 'Unit', 'Meaning'], rows }
}

/** Description of an answer in one media type. */
type MediaDescription = Readonly<{
  type: string
  /** Sentences about it: its meaning, and its shared parts. */
  says: string
  /** Fields, when its schema is not shared. */
  fields: readonly Field[]
}>

/** Descriptions of an endpoint's answer, by media type. */
export function mediaDescriptions(operation: Operation, document: ApiDocument): readonly MediaDescription[] {
  const known = new Set(sharedIn(document))
  return mediaOf(operation).map(([type, { schema = {}, 'x-itemSchema': items }]) => {
    const name = schemaName(schema)
    const isShared = name !== null && known.has(name)
    const meaning = schema.description ?? document.components.schemas[name ?? '']?.description
    const parts = refsIn(items).filter((one) => known.has(one))
    const says = [
      `\`${type}\`${meaning === undefined ? '.' : `: ${meaning.replace(/\.?$/, '.')}`}`,
      ...(isShared ? [`Its fields are those of ${linkTo(name)}.`] : []),
      ...(parts.length === 0 ? [] : [`Its parts: ${parts.map(linkTo).join(', ')}.`]),
    ].join(' ')
    return { type, says, fields: name === null || isShared ? [] : fieldsOf(name, document) }
  })
}

const shared = new WeakMap<ApiDocument, readonly string[]>()

/** Schemas with more than one reference in the document. The reference page shows each once. */
export function sharedIn(document: ApiDocument): readonly string[] {
  // Cached, because it is called for many fields and searches some hundred kilobytes.
  const known = shared.get(document)
  if (known !== undefined) return known
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)]
  const counts = Map.groupBy(refs, ([, name = '']) => name)
  // A schema without fields, such as a list of words, is described where it is used.
  const found = Object.entries(document.components.schemas).flatMap(([name, { properties }]) =>
    properties !== undefined && (counts.get(name)?.length ?? 0) > 1 ? [name] : [],
  )
  shared.set(document, found)
  return found
}

/** Names of the schemas that a part of the document refers to. */
function refsIn(value: unknown): readonly string[] {
  const found = (JSON.stringify(value) ?? '').matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)
  return [...new Set([...found].map(([, name = '']) => name))]
}

/** Name of the schema that a reference names; null without one. */
export function schemaName({ $ref }: ValueSchema): string | null {
  return $ref?.startsWith(BASE) === true ? $ref.slice(BASE.length) : null
}

/** All fields of a schema and of its parts. A shared part is one field. */
export function fieldsOf(root: string, document: ApiDocument): readonly Field[] {
  const { schemas } = document.components
  const elsewhere = new Set(sharedIn(document))

  function within(path: string, outer: ValueSchema, optional: boolean): readonly Field[] {
    const { bare, nullable } = withoutNull(outer)
    const named = schemaName(bare)
    const row = (form: string | null, of: string | null, part: ValueSchema = {}): Field => {
      // A description here takes precedence over that of the shared part.
      const meaning = outer.description ?? bare.description ?? part.description ?? ''
      const unit = outer['x-unit'] ?? bare['x-unit'] ?? null
      return { name: path, form, of, nullable, optional, meaning, unit }
    }
    if (named !== null && elsewhere.has(named)) return [row(null, named, schemas[named])]
    if (named !== null) return within(path, { ...schemas[named], ...outerOf(outer) }, optional)
    if (bare.items !== undefined) {
      return [
        ...(nullable ? [row('list', null)] : []),
        ...within(`${path}[]`, { ...bare.items, ...outerOf(outer) }, optional),
      ]
    }
    if (bare.properties !== undefined) {
      return [...(nullable ? [row('object', null)] : []), ...inside(path, bare)]
    }
    if (bare.additionalProperties !== undefined && Object.keys(bare.additionalProperties).length > 0) {
      return [
        ...(nullable ? [row('object', null)] : []),
        ...within(`${path}.*`, { ...bare.additionalProperties, ...outerOf(outer) }, false),
      ]
    }
    const of = TEXTS.find(([like]) => bare.pattern !== undefined && new RegExp(bare.pattern).test(like))?.[1]
    return [of === undefined ? row(valueOf(bare), null) : row(null, of)]
  }

  function inside(path: string, { properties = {}, required }: ValueSchema): readonly Field[] {
    const names = new Set(Object.keys(properties))
    return Object.entries(properties)
      .filter(([name]) => !(name.endsWith('Ms') && names.has(name.slice(0, -2))))
      .flatMap(([name, value]) =>
        within(path === '' ? name : `${path}.${name}`, value, required?.includes(name) !== true),
      )
  }

  return inside('', schemas[root] ?? {})
}

/** Description of a list, for its elements without one. */
function outerOf({ description }: ValueSchema): ValueSchema {
  return description === undefined ? {} : { description }
}

function withoutNull(schema: ValueSchema): Readonly<{ bare: ValueSchema; nullable: boolean }> {
  const { type, anyOf } = schema
  if (anyOf?.some((one) => one.type === 'null') === true) {
    const others = anyOf.filter((one) => one.type !== 'null')
    const [only] = others
    if (others.length === 1 && only !== undefined) return { bare: only, nullable: true }
    return { bare: { ...schema, anyOf: others }, nullable: true }
  }
  if (typeof type !== 'object') return { bare: schema, nullable: false }
  const types = type.filter((one) => one !== 'null')
  const [only] = types
  const bare = { ...schema, type: types.length === 1 && only !== undefined ? only : types }
  return { bare, nullable: types.length < type.length }
}

const VALUES: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  integer: 'whole number',
  number: 'number',
  object: 'object',
}

/** Type of a single value, in words. */
function valueOf({ type, enum: values, pattern, contentEncoding, anyOf }: ValueSchema): string {
  if (anyOf !== undefined) return anyOf.map(valueOf).join(' or ')
  if (values !== undefined) return `one of ${values.join(', ')}`
  if (contentEncoding === 'base64') return 'base64'
  if (pattern !== undefined && new RegExp(pattern).test('2026-10') && !new RegExp(pattern).test('x')) {
    return 'yyyy-mm'
  }
  return [type]
    .flat()
    .map((one) => VALUES[String(one)] ?? 'text')
    .join(' or ')
}
