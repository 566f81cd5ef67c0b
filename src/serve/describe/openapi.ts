import { type Endpoint, ENDPOINT_GROUPS, ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { type DocumentTerms, licenceOf, NOTICE, SUBJECT, TERMS } from './information.ts'
import { PROBLEMS } from '../../protocol/problem.ts'
import type { JsonSchema } from '../../protocol/schema.ts'
import { problemsOf } from './endpoint-problems.ts'
import { cachingOf, costOf } from './endpoint-terms.ts'
import { componentSchemas } from './component-schemas.ts'
import { HEADER_PARAMETERS, pathParameters, queryParameter } from './openapi-parameters.ts'
import { HEADERS, responsesOf, SHARED_RESPONSES } from './openapi-responses.ts'
import { documentReply } from './json-document.ts'
import { PROBLEM_SCHEMA } from './problem-schema.ts'
import type { RouteReply } from '../http/route.ts'

/** Reply of `/openapi.json`, made once. */
export function openapiReply(terms: DocumentTerms): RouteReply {
  return documentReply(openapi(terms))
}

/** The OpenAPI 3.1 document of the table of endpoints. */
export function openapi({ version, licence }: DocumentTerms): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Daybook',
      version,
      description: `${SUBJECT}. ${TERMS} ${NOTICE}`,
      ...licenceOf(licence),
    },
    servers: [{ url: '/', description: 'This service' }],
    // No key and no sign-up.
    security: [],
    tags: ENDPOINT_GROUPS.map(({ tag, description }) => ({ name: tag, description })),
    paths: Object.fromEntries(
      ENDPOINTS.map((endpoint) => [templateOf(endpoint.path), { get: operation(endpoint) }]),
    ),
    components: {
      schemas: { ...componentSchemas(), Problem: PROBLEM_SCHEMA },
      headers: HEADERS,
      responses: SHARED_RESPONSES,
    },
  }
}

/** A path as OpenAPI writes it. OpenAPI has no parts of several segments; their descriptions say so. */
function templateOf(path: string): string {
  return path.replace('...}', '}')
}

function operation(endpoint: Endpoint): JsonSchema {
  return {
    operationId: endpoint.id,
    tags: [endpoint.tag],
    summary: endpoint.meaning,
    description: describe(endpoint),
    parameters: [
      ...pathParameters(templateOf(endpoint.path)),
      ...endpoint.parameters.map(queryParameter),
      ...(HEADER_PARAMETERS[endpoint.id] ?? []),
    ],
    responses: responsesOf(endpoint),
  }
}

/** Description of an endpoint: its problems, caching and cost. */
function describe(endpoint: Endpoint): string {
  const codes = problemsOf(endpoint).map((code) => `${PROBLEMS[code].status} \`${code}\``)
  const errors = [...codes, `${codes.length === 0 ? '' : 'and '}those of every endpoint`].join(', ')
  return `Errors: ${errors}. Caching: ${cachingOf(endpoint)}. Rate limit: ${costOf(endpoint)}.`
}
