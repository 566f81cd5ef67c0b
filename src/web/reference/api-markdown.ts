import { ENDPOINT_PATHS, FRICTIONLESS_PATH } from '../../protocol/paths.ts'
import { NOTICE, PAYOUT_MEANINGS, SUBJECT, TERMS } from '../../serve/describe/information.ts'
import { ERRORS_PATH, PROBLEM_BASE } from '../../serve/http/problem-document.ts'
import type { Site } from '../markup/site.ts'
import { type ExampleRequest, openExampleRequests } from './api-answers.ts'
import {
  askDocument,
  type ApiDocument,
  CACHING_AND_COSTS,
  type DocumentedEndpoint,
  type DocumentTable,
  endpointsOf,
  parameterTable,
  PROBLEMS_INTRODUCTION,
  problemTable,
} from './api-document.ts'
import { fieldsOf, fieldTable, formsOf, mediaDescriptions, sharedIn } from './api-fields.ts'
import { snippetsOf } from './api-snippets.ts'
import type { AnswerRoute, Reply, RouteRequest } from '../../serve/http/route.ts'
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
    `> ${PAYOUT_MEANINGS}`,
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
    ...(parameters.length === 0 ? [] : [table(parameterTable(endpoint))]),
    codeBlock('sh', curl?.text ?? ''),
    ...mediaDescriptions(endpoint, document).flatMap(({ says, fields }) => [
      withoutLinks(`Answers ${says}`),
      ...(fields.length === 0 ? [] : [table(fieldTable(fields, literal(site.token)))]),
    ]),
    description,
  ]
}

function sharedPart(document: ApiDocument, token: string): readonly string[] {
  return [
    '## What answers share',
    ...formsOf(token).flatMap(([name, description]) => [`### ${name}`, description]),
    ...sharedIn(document).flatMap((name) => [
      `### ${name}`,
      (document.components.schemas[name]?.description ?? '').replace(/\.?$/, '.'),
      table(fieldTable(fieldsOf(name, document), token)),
    ]),
  ]
}

function problemsPart(document: ApiDocument, token: string): readonly string[] {
  return [
    '## Problems',
    `${PROBLEMS_INTRODUCTION} The \`type\` of each is \`${PROBLEM_BASE}/\` and the code; [the page of errors](${ERRORS_PATH}) has the cure of each.`,
    table(problemTable((code) => `\`${code}\``)),
    '### The document',
    table(fieldTable(fieldsOf('Problem', document), token)),
  ]
}

/** Escapes a text of the operator, so that it contains no Markdown or HTML. */
function literal(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>#|~&]/g, String.raw`\$&`)
}

/** A fenced block of code. */
function codeBlock(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

/** A Markdown table. */
function table({ head, rows }: DocumentTable): string {
  return [head, head.map(() => '---'), ...rows].map(lineOf).join('\n')
}

/** Text without links, which lead to ids of the page. */
function withoutLinks(text: string): string {
  return text.replaceAll(/\[([^\]]*)\]\(#[^)]*\)/g, '$1')
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.map(cellOf).join(' | ')} |`
}

/** Escapes the bars of a cell, which end it even between backticks. Keeps escaped bars. */
function cellOf(text: string): string {
  return withoutLinks(text)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?<!\\)\|/g, String.raw`\|`)
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
  const { answer: document } = await askDocument(asking)
  const body = formatReference({
    document,
    site,
    simulated: identity.simulated,
    base: site.url,
    exampleOfEndpoint: await openExampleRequests(asking),
  })
  return { is: 'body', keep: 'revalidate', etag: 'of-content', type: TYPE, body }
}
