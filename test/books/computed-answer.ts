import { ANSWERS, type PreparedAnswer } from '../../src/project/answers/computed-answers.ts'
import type { Books } from '../../src/project/fold/books.ts'
import { type Answers, endpointOf, type RecomputedEndpoint } from '../../src/protocol/endpoints/endpoints.ts'
import { type Ms, MS_MAX } from '../../src/protocol/moment.ts'
import type { Parsed } from '../../src/protocol/problem.ts'
import { parseQuery } from '../../src/serve/query/query.ts'

type Asked = Readonly<{ segments?: Readonly<Record<string, string>>; query?: string; now?: Ms }>

/** Prepares an answer as the API does. */
export function prepareAnswer<Id extends RecomputedEndpoint>(
  books: Books,
  endpoint: Id,
  { segments = {}, query = '', now = MS_MAX }: Asked = {},
): Parsed<PreparedAnswer<Answers[Id]>> {
  const parsed = parseQuery(query, endpointOf(endpoint).parameters)
  return parsed.ok ? ANSWERS[endpoint](books, { segments, query: parsed.value, now, latest: now }) : parsed
}

/** Computes an answer as the API does. */
export function computeAnswer<Id extends RecomputedEndpoint>(
  books: Books,
  endpoint: Id,
  asked?: Asked,
): Parsed<Answers[Id]> {
  const prepared = prepareAnswer(books, endpoint, asked)
  return prepared.ok ? prepared.value.compute(books) : prepared
}
