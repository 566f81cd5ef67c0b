import { type EndpointId, type PathPart, pathParts } from '../../protocol/paths.ts'
import { isList, LIST_VALUES_MAX, type Parameter, type ParameterForm } from '../../protocol/parameters.ts'
import { EVENT_TYPES, WORD } from '../../protocol/rules.ts'
import type { JsonSchema } from '../../protocol/schema.ts'
import { TX_FORM, TX_PATTERN } from '../../protocol/tx.ts'

/** Sentence in the description of a parameter that takes a list. */
export const LIST_NOTE = ' Repeat the parameter, or give the values with commas between them.'

/** A parameter of a query. */
export function queryParameter({ name, form, absent, meaning, example }: Parameter): JsonSchema {
  return {
    name,
    in: 'query',
    required: false,
    description: `${meaning}. When absent: ${absent}.${isList(form) ? LIST_NOTE : ''}`,
    ...schemaOf(form),
    example: exampleOf(form, example),
  }
}

type Example = string | number | readonly string[] | readonly number[]

/** Example as a value of its schema, not as text in a URL. */
function exampleOf(form: ParameterForm, example: string): Example {
  if (form.is === 'integer') return Number(example)
  if (form.is === 'integers') return example.split(',').map(Number)
  return isList(form) ? example.split(',') : example
}

/** Schema of a form, with the style of a list. */
export function schemaOf(
  form: ParameterForm,
): Readonly<{ schema: JsonSchema; style?: 'form'; explode?: true }> {
  switch (form.is) {
    case 'time':
      return {
        schema: {
          oneOf: [
            {
              type: 'string',
              description: 'UTC: `2026-10`, `2026-10-01`, `2026-10-01T12:00:00.123456+00:00`',
            },
            { type: 'integer', minimum: 0, description: 'Milliseconds since 1970' },
          ],
        },
      }
    case 'integer':
      return { schema: { type: 'integer', minimum: form.min, maximum: form.max } }
    case 'word':
      return { schema: { type: 'string', pattern: WORD.source } }
    case 'text':
      return { schema: { type: 'string', maxLength: form.charsMax } }
    case 'flag':
      return { schema: { type: 'string', enum: ['1'] } }
    case 'tx':
      return {
        schema: {
          type: 'string',
          description: `In the form of the log’s chain: ${form.chains.map((chain) => `\`${chain}\` ${TX_FORM[chain]}`).join('; ')}`,
          pattern: form.chains.map((chain) => TX_PATTERN[chain]).join('|'),
        },
      }
    case 'one-of':
      return { schema: { type: 'string', enum: form.values } }
    case 'list-of':
      return listSchema({ type: 'string', enum: form.values })
    case 'words':
      return listSchema({ type: 'string', pattern: WORD.source })
    case 'integers':
      return listSchema({ type: 'integer', minimum: form.min, maximum: form.max })
  }
}

/** Schema of a list as repeated parameters, which generated clients send. Lists with commas are accepted too. */
function listSchema(items: JsonSchema): Readonly<{ schema: JsonSchema; style: 'form'; explode: true }> {
  return {
    style: 'form',
    explode: true,
    schema: { type: 'array', minItems: 1, maxItems: LIST_VALUES_MAX, items },
  }
}

const WHOLE: JsonSchema = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
const PATH_PARAMETERS: Readonly<Record<PathPart, JsonSchema>> = {
  id: { description: 'The contest’s number', schema: WHOLE, example: 1 },
  type: {
    description: 'A type of event',
    schema: { type: 'string', enum: EVENT_TYPES },
    example: 'payout',
  },
  seq: { description: 'The event’s seq', schema: WHOLE, example: 1 },
  file: {
    description:
      '`yyyy-mm.jsonl.gz`, `yyyy-mm.details.jsonl.gz`, `yyyy-mm.parquet` and `yyyy-mm.json` (manifest) of a closed month, or `SHA256SUMS`',
    schema: { type: 'string' },
    example: '2026-10.jsonl.gz',
  },
  level: {
    description:
      'Level of the tree: 0 has the leaf hashes, each higher one the roots of the full tiles below it',
    schema: { type: 'integer', minimum: 0, maximum: 63 },
    example: 0,
  },
  tile: {
    description:
      'The tile’s number in groups of three digits, each but the last with an x before it; a partial tile adds ' +
      '`.p/` and its width: `273`, `x001/x234/067`, `273.p/112`. The slashes are not encoded',
    schema: { type: 'string' },
    example: '000.p/1',
  },
}

/** Parameters in a path. */
export function pathParameters(path: string): readonly JsonSchema[] {
  return pathParts(path).map((name) => ({ name, in: 'path', required: true, ...PATH_PARAMETERS[name] }))
}

/** Request headers that an endpoint reads besides the common ones. */
export const HEADER_PARAMETERS: Readonly<Partial<Record<EndpointId, readonly JsonSchema[]>>> = {
  stream: [
    {
      name: 'Last-Event-ID',
      in: 'header',
      description:
        'Seq of the last message received, sent by a browser when it reconnects; takes precedence over `lastEventId`, `after` and `from`',
      schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      example: 1200,
    },
  ],
  archiveFile: [
    {
      name: 'Range',
      in: 'header',
      description: 'One byte range of a file of a closed month',
      schema: { type: 'string' },
      example: 'bytes=0-1023',
    },
  ],
}
