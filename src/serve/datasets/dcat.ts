import { ENDPOINT_PATHS, DATASET_PATHS } from '../../protocol/paths.ts'
import type { Column } from './dataset-columns.ts'
import type { Publication } from './publication.ts'
import { unitFor } from './publication.ts'
import type { Dataset, PublishedFile } from './published-files.ts'

/** The names that the document uses. It is inline, so that a reader fetches nothing. */
const CONTEXT = {
  dcat: 'http://www.w3.org/ns/dcat#',
  dct: 'http://purl.org/dc/terms/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  vcard: 'http://www.w3.org/2006/vcard/ns#',
  spdx: 'http://spdx.org/rdf/terms#',
  csvw: 'http://www.w3.org/ns/csvw#',
  schema: 'https://schema.org/',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
} as const

const MEDIA_TYPES = 'https://www.iana.org/assignments/media-types'
const MEDIA_TYPE: Readonly<Record<PublishedFile['form'], string>> = {
  csv: `${MEDIA_TYPES}/text/csv`,
  'jsonl.gz': `${MEDIA_TYPES}/application/gzip`,
  json: `${MEDIA_TYPES}/application/json`,
  sha256sums: `${MEDIA_TYPES}/text/plain`,
}

type Node = Readonly<Record<string, unknown>>

const english = (text: string): Node => ({ '@value': text, '@language': 'en' })
const resource = (id: string): Node => ({ '@id': id })

/** Describes the files as a catalogue (DCAT 3) in JSON-LD. Columns are described in the terms of CSVW. */
export function formatDcat({ publisher, log, description, datasets }: Publication): string {
  const { url, name, licence, contact } = publisher
  const here = `${url}${DATASET_PATHS.dcat}`
  const agent = {
    '@id': `${here}#publisher`,
    '@type': 'foaf:Agent',
    'foaf:name': name,
    'foaf:homepage': resource(url),
  }
  const common = {
    'dct:publisher': resource(`${here}#publisher`),
    ...(licence === null ? {} : { 'dct:license': resource(licence) }),
    ...(contact === null
      ? {}
      : { 'dcat:contactPoint': { '@type': 'vcard:Organization', 'vcard:hasEmail': resource(contact) } }),
  }
  const catalogue = {
    '@id': `${here}#catalog`,
    '@type': 'dcat:Catalog',
    'dct:title': english(name),
    'dct:description': english(description),
    'dct:identifier': log.id,
    'foaf:homepage': resource(url),
    ...common,
    'dcat:dataset': datasets.map((dataset) => resource(`${here}#${dataset.name}`)),
    'dcat:service': resource(`${here}#api`),
  }
  const api = {
    '@id': `${here}#api`,
    '@type': 'dcat:DataService',
    'dct:title': english(`The API of ${name}`),
    'dcat:endpointURL': resource(`${url}/api/v1`),
    'dcat:endpointDescription': resource(`${url}${ENDPOINT_PATHS.openapi}`),
    'dcat:servesDataset': datasets.map((dataset) => resource(`${here}#${dataset.name}`)),
    ...common,
  }
  const described = datasets.flatMap((dataset) => datasetNodes(dataset, here, publisher.token, common))
  return JSON.stringify({ '@context': CONTEXT, '@graph': [catalogue, agent, api, ...described] })
}

/** A data set, and the columns of its files. Files with the same columns share one description of them. */
function datasetNodes(dataset: Dataset, here: string, token: string, common: Node): readonly Node[] {
  const { name, title, meaning, months, files } = dataset
  const schemas = new Map<readonly Column[], string>()
  for (const { name: file, columns } of files) {
    if (columns.length > 0 && !schemas.has(columns)) schemas.set(columns, `${here}#columns-${file}`)
  }
  const node = {
    '@id': `${here}#${name}`,
    '@type': 'dcat:Dataset',
    'dct:title': english(title),
    'dct:description': english(meaning),
    ...common,
    ...(months === null ? {} : { 'dct:temporal': periodOf(months) }),
    'dcat:distribution': files.map((file) => distributionOf(file, schemas.get(file.columns))),
  }
  return [node, ...[...schemas].map(([columns, id]) => schemaNode(columns, id, token))]
}

function periodOf([first, last]: readonly [string, string]): Node {
  return {
    '@type': 'dct:PeriodOfTime',
    'dcat:startDate': { '@value': first, '@type': 'xsd:gYearMonth' },
    'dcat:endDate': { '@value': last, '@type': 'xsd:gYearMonth' },
  }
}

function distributionOf(file: PublishedFile, schema: string | undefined): Node {
  const { title, meaning, url, form, digest } = file
  return {
    '@id': url,
    '@type': 'dcat:Distribution',
    'dct:title': english(title),
    'dct:description': english(meaning),
    'dcat:accessURL': resource(url),
    'dcat:downloadURL': resource(url),
    'dcat:mediaType': resource(MEDIA_TYPE[form]),
    ...(form === 'jsonl.gz' ? { 'dcat:compressFormat': resource(MEDIA_TYPE['jsonl.gz']) } : {}),
    ...(schema === undefined ? {} : { 'csvw:tableSchema': resource(schema) }),
    ...(digest === null
      ? {}
      : {
          'dcat:byteSize': { '@value': String(digest.bytes), '@type': 'xsd:nonNegativeInteger' },
          'spdx:checksum': {
            '@type': 'spdx:Checksum',
            'spdx:algorithm': resource('spdx:checksumAlgorithm_sha256'),
            'spdx:checksumValue': { '@value': digest.sha256, '@type': 'xsd:hexBinary' },
          },
        }),
  }
}

function schemaNode(columns: readonly Column[], id: string, token: string): Node {
  return {
    '@id': id,
    '@type': 'csvw:Schema',
    'csvw:column': { '@list': columns.map((column) => columnNode(column, token)) },
  }
}

const DATATYPES: Readonly<Record<Column['form']['is'], string>> = {
  decimal: 'xsd:decimal',
  integer: 'xsd:integer',
  boolean: 'xsd:boolean',
  moment: 'xsd:dateTime',
  month: 'xsd:gYearMonth',
  text: 'xsd:string',
  object: 'csvw:JSON',
}

function columnNode(column: Column, token: string): Node {
  const { name, meaning, form, optional } = column
  const unit = unitFor(column, token)
  return {
    '@type': 'csvw:Column',
    'csvw:name': name,
    'dct:description': english(meaning),
    'csvw:datatype': resource(DATATYPES[form.is]),
    'csvw:required': !optional,
    ...(unit === null ? {} : { 'schema:unitText': unit }),
  }
}
