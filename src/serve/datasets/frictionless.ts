import type { Column } from './dataset-columns.ts'
import type { Publication } from './publication.ts'
import { unitFor } from './publication.ts'
import type { PublishedFile } from './published-files.ts'

const PROFILES = 'https://datapackage.org/profiles/2.0'

/** Describes the files as a Data Package (Frictionless, version 2). */
export function formatFrictionless(publication: Publication): string {
  const { publisher, log, datasets, description } = publication
  const { name, url, licence } = publisher
  return JSON.stringify({
    $schema: `${PROFILES}/datapackage.json`,
    name: 'daybook',
    id: `${url}/datapackage.json`,
    title: `${name}: every event and every figure`,
    description,
    homepage: url,
    ...(licence === null ? {} : { licenses: [{ path: licence }] }),
    contributors: [{ title: name, path: url, roles: ['publisher'] }],
    keywords: ['contests', 'prizes', 'payments', 'events'],
    // Members of our own, which the profile allows.
    origin: log.origin,
    log: log.id,
    simulated: log.simulated,
    resources: datasets.flatMap(({ files }) => files.map((file) => resourceOf(file, publisher.token))),
  })
}

/** Description of a file. `hash` and `bytes` are those of the file as served. */
function resourceOf(file: PublishedFile, token: string): unknown {
  const { name, title, meaning, url, columns, digest } = file
  return {
    name,
    ...(columns.length === 0 ? {} : { type: 'table' }),
    title,
    description: meaning,
    path: url,
    ...formatOf(file),
    encoding: 'utf-8',
    ...(digest === null ? {} : { bytes: digest.bytes, hash: `sha256:${digest.sha256}` }),
    ...(columns.length === 0 ? {} : { schema: schemaOf(file, token) }),
  }
}

function formatOf({ form }: PublishedFile): Readonly<Record<string, unknown>> {
  switch (form) {
    case 'csv':
      return {
        format: 'csv',
        mediatype: 'text/csv',
        dialect: {
          $schema: `${PROFILES}/tabledialect.json`,
          header: true,
          delimiter: ',',
          lineTerminator: '\r\n',
        },
      }
    case 'jsonl.gz':
      return {
        format: 'jsonl',
        mediatype: 'application/gzip',
        compression: 'gz',
        dialect: { $schema: `${PROFILES}/tabledialect.json`, itemType: 'object' },
      }
    case 'json':
      return { format: 'json', mediatype: 'application/json' }
    case 'sha256sums':
      return { format: 'txt', mediatype: 'text/plain' }
  }
}

function schemaOf({ columns, key }: PublishedFile, token: string): unknown {
  return {
    $schema: `${PROFILES}/tableschema.json`,
    missingValues: [''],
    ...(key === null ? {} : { primaryKey: [key] }),
    fields: columns.map((column) => fieldOf(column, token)),
  }
}

function fieldOf(column: Column, token: string): unknown {
  const { name, meaning, optional, values } = column
  const unit = unitFor(column, token)
  const constraints = {
    ...(optional ? {} : { required: true }),
    ...(values === null ? {} : { enum: values }),
  }
  return {
    name,
    ...typeOf(column),
    description: meaning,
    ...(unit === null ? {} : { unit }),
    ...(Object.keys(constraints).length === 0 ? {} : { constraints }),
  }
}

/** Type of a field. A decimal is exact: its lexical form has all decimals, in JSON lines as a string. */
function typeOf({ form }: Column): Readonly<Record<string, unknown>> {
  switch (form.is) {
    case 'decimal':
      return { type: 'number', decimalChar: '.', decimals: form.decimals }
    case 'moment':
      return { type: 'datetime' }
    case 'month':
      return { type: 'yearmonth' }
    case 'text':
      return { type: 'string' }
    case 'integer':
    case 'boolean':
    case 'object':
      return { type: form.is }
  }
}
