import { PROBLEMS } from '../../protocol/problem.ts'
import { ENDPOINT_PATHS, FRICTIONLESS_PATH } from '../../protocol/paths.ts'
import { PUBLIC_PROBLEMS } from '../../serve/describe/endpoint-problems.ts'
import { NOTICE, SUBJECT, TERMS } from '../../serve/describe/information.ts'
import { ERRORS_PATH, PROBLEM_BASE } from '../../serve/http/problem-document.ts'
import type { Site } from '../markup/site.ts'
import { type ExampleRequest, openExampleRequests } from './api-answers.ts'
import {
  type ApiDocument,
  type ApiParameter,
  CACHING_AND_COSTS,
  type DocumentedEndpoint,
  endpointsOf,
  exampleIn,
  formOf,
  meaningOf,
  PROBLEMS_INTRODUCTION,
  valueBoundsOf,
} from '../frame/api-document.ts'
import { type Field, fieldsOf, formsOf, sharedIn, typeOfField, unitOf } from './api-fields.ts'
import { type MediaDescription, mediaDescriptions } from './api-media.ts'
import { snippetsOf } from './api-snippets.ts'
import type { AnswerRoute, Reply, RouteRequest } from '../../serve/http/route.ts'
import { askEndpoint } from '../frame/linked-answers.ts'
import type { Web } from '../frame/page-routes.ts'
import type { View } from '../frame/page.ts'

/** Parts of the reference. */
export type Reference = Readonly<{
  document: ApiDocument
  site: Site
  simulated: boolean
  /** Base URL of its requests. */
  base: string
  exampleOfEndpoint: (endpoint: DocumentedEndpoint) => ExampleRequest
}>

/** Formats the reference as Markdown. */
function formatReference(reference: Reference): string {
  const { document, site, simulated } = reference
  const endpoints = endpointsOf(document)
  const token = literal(site.token)
  return `${[
    `# The API of ${literal(site.name)}`,
    `> ${SUBJECT}. ${NOTICE}`,
    ...(simulated ? ['**This platform is simulated. No real money is involved.**'] : []),
    `${TERMS} Version ${document.info.version}.`,
    `As a page: [/api](/api). For programs: [OpenAPI](${ENDPOINT_PATHS.openapi}), and ` +
      `[AsyncAPI](${ENDPOINT_PATHS.asyncapi}) for the stream. In short: [llms.txt](/llms.txt). ` +
      `Every file and column: [Data Package](${FRICTIONLESS_PATH}).`,
    ...document.tags.flatMap(({ name, description }) => [
      `## ${name}`,
      `${description}.`,
      ...endpoints.filter(({ tags }) => tags.includes(name)).flatMap((one) => endpointPart(one, reference)),
    ]),
    ...sharedPart(document, token),
    '## Caching and rate limit',
    ...CACHING_AND_COSTS,
    ...problemsPart(document, token),
  ].join('\n\n')}\n`
}

function endpointPart(endpoint: DocumentedEndpoint, reference: Reference): readonly string[] {
  const { document, site, base, exampleOfEndpoint } = reference
  const { path, summary, description, parameters } = endpoint
  const curl = snippetsOf(base, endpoint, exampleOfEndpoint(endpoint)).find(
    ({ language }) => language === 'curl',
  )
  return [
    `### GET ${path}`,
    `${summary}.`,
    ...(parameters.length === 0 ? [] : [table(PARAMETER_HEAD, parameters.map(parameterRow))]),
    codeBlock('sh', curl?.text ?? ''),
    ...mediaDescriptions(endpoint, document).flatMap((media) => answerPart(media, literal(site.token))),
    description,
  ]
}

const PARAMETER_HEAD = ['Parameter', 'Type', 'Default', 'Bounds', 'Example', 'Meaning']

function parameterRow(parameter: ApiParameter): readonly string[] {
  const { name, in: place, schema } = parameter
  const [meaning, absent] = meaningOf(parameter)
  const where = place === 'query' ? '' : ` (${place})`
  const example = `\`${exampleIn(parameter)}\``
  return [`\`${name}\`${where}`, formOf(schema), absent, valueBoundsOf(schema) ?? '–', example, meaning]
}

function answerPart(
  { type, meaning, is, parts, fields }: MediaDescription,
  token: string,
): readonly string[] {
  const paragraph = [
    `Answers \`${type}\`${meaning === undefined ? '.' : `: ${sentence(meaning)}`}`,
    ...(is === null ? [] : [`Its fields are those of ${is}, below.`]),
    ...(parts.length === 0 ? [] : [`Its parts are described below: ${parts.join(', ')}.`]),
  ].join(' ')
  return fields.length === 0 ? [paragraph] : [paragraph, fieldsTable(fields, token)]
}

function fieldsTable(fields: readonly Field[], token: string): string {
  const rows = fields.map((field) => {
    const name = `\`${field.name}\`${field.of === 'moment' ? ', `…Ms`' : ''}`
    return [name, typeOfField(field).join(''), unitOf(field, token), field.meaning]
  })
  return table(['Field', 'Type', 'Unit', 'Meaning'], rows)
}

function sharedPart(document: ApiDocument, token: string): readonly string[] {
  return [
    '## What answers share',
    ...formsOf(token).flatMap(([name, description]) => [`### ${name}`, description]),
    ...sharedIn(document).flatMap((name) => [
      `### ${name}`,
      sentence(document.components.schemas[name]?.description ?? ''),
      fieldsTable(fieldsOf(name, document), token),
    ]),
  ]
}

function problemsPart(document: ApiDocument, token: string): readonly string[] {
  const rows = PUBLIC_PROBLEMS.map((code) => [
    `\`${code}\``,
    String(PROBLEMS[code].status),
    PROBLEMS[code].title,
  ])
  return [
    '## Problems',
    `${PROBLEMS_INTRODUCTION} The \`type\` of each is \`${PROBLEM_BASE}/\` and the code; [the page of errors](${ERRORS_PATH}) has the cure of each.`,
    table(['Code', 'Status', 'What is wrong'], rows),
    '### The document',
    fieldsTable(fieldsOf('Problem', document), token),
  ]
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}

/** Escapes a text of the operator, so that nothing in it is Markdown or HTML. */
function literal(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>#|~&]/g, String.raw`\$&`)
}

/** A fenced block of code. */
function codeBlock(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

/** A Markdown table. */
function table(names: readonly string[], rows: readonly (readonly string[])[]): string {
  return [names, names.map(() => '---'), ...rows].map(lineOf).join('\n')
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.map(cellOf).join(' | ')} |`
}

/** Escapes the bars of a cell, which end it even between backticks. Escaped bars stay as they are. */
function cellOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/(?<!\\)\|/g, String.raw`\|`)
}

export const MARKDOWN_PATH = '/api.md'

const TYPE = 'text/markdown; charset=utf-8'

/** Route of `/api.md`, the reference as Markdown. */
export function apiMarkdownRoute(web: Web): AnswerRoute {
  return {
    path: MARKDOWN_PATH,
    parameters: [],
    allowance: 'pages',
    // Its example requests depend on the log.
    showsLog: true,
    handle: (ask) => replyOf(web, ask),
  }
}

async function replyOf({ api, site, identity }: Web, ask: RouteRequest): Promise<Reply> {
  const asking: Pick<View, 'ask'> = { ask: (endpoint, asked = {}) => api.ask(endpoint, ask, asked) }
  const { answer: document } = await askEndpoint(asking, 'openapi')
  const body = formatReference({
    document,
    site,
    simulated: identity.simulated,
    base: site.url,
    exampleOfEndpoint: await openExampleRequests(asking),
  })
  return { is: 'body', keep: 'revalidate', etag: 'of-content', type: TYPE, body }
}
