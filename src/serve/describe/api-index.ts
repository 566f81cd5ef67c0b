import { ENDPOINTS } from '../../protocol/endpoints/endpoints.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import { ERRORS_PATH } from '../http/problem-document.ts'
import { JSON_TYPE } from '../http/headers.ts'
import type { AnswerRoute } from '../http/route.ts'
import { NOTICE, SUBJECT } from './information.ts'

/** Path of the index: the base of every endpoint. */
const INDEX_PATH = '/api/v1'

/** Route of `/api/v1`: every endpoint with its meaning and parameters, and links to their descriptions. */
export function indexRoute(licence: string | null): AnswerRoute {
  const body = JSON.stringify({
    description: SUBJECT,
    notice: NOTICE,
    licence,
    openapi: ENDPOINT_PATHS.openapi,
    asyncapi: ENDPOINT_PATHS.asyncapi,
    reference: '/api',
    errors: ERRORS_PATH,
    endpoints: ENDPOINTS.map(({ id, path, meaning, parameters }) => ({
      id,
      path,
      meaning,
      parameters: parameters.map(({ name }) => name),
    })),
  })
  return {
    path: INDEX_PATH,
    parameters: [],
    allowance: 'api',
    brief: true,
    handle: () => ({ is: 'body', keep: 'revalidate', etag: 'of-content', type: JSON_TYPE, body }),
  }
}
