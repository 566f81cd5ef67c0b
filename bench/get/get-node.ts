import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import Fastify from 'fastify'
import { Pool } from 'pg'
import type { Prepared } from './get-peers.ts'

// Peers that run on Node, in their own process. Arguments: `bare`, `fastify` or `fastify-postgres`, the file of
// prepared answers, and the directory of PostgreSQL's socket. Prints the port.

const [kind = '', file = '', socketDirectory = ''] = process.argv.slice(2)
const prepared: readonly Prepared[] = JSON.parse(readFileSync(file, 'utf8'))

const event = {
  type: 'object',
  properties: {
    seq: { type: 'integer' },
    type: { type: 'string' },
    kind: { type: 'string' },
    at: { type: 'string' },
    atMs: { type: 'integer' },
    contestId: { type: ['integer', 'null'] },
    kots: { type: ['string', 'null'] },
    tx: { type: ['string', 'null'] },
  },
} as const

const page = {
  type: 'object',
  properties: {
    events: { type: 'array', items: event },
    page: {
      type: 'object',
      properties: {
        after: { type: 'integer' },
        limit: { type: 'integer' },
        count: { type: 'integer' },
        scannedTo: { type: 'integer' },
        hasMore: { type: 'boolean' },
        next: { type: ['string', 'null'] },
      },
    },
  },
} as const

/** Looks up bytes and headers and writes them: the least that node:http can do. */
function bare(): void {
  const answers = new Map(
    prepared.map(({ path, headers, body }) => [path, { headers: headers.flat(), body: Buffer.from(body) }]),
  )
  const server = createServer((request, response) => {
    const answer = answers.get(request.url ?? '')
    if (answer === undefined) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, answer.headers)
    response.end(answer.body)
  })
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
  })
}

/** Route as in the framework's documentation: schemas, an object in memory, and headers of the route. */
async function fastify(): Promise<void> {
  const app = Fastify({ logger: false })
  const events = new Map(
    prepared.map(({ body }) => JSON.parse(body) as { seq: number }).map((one) => [one.seq, one]),
  )
  const headers = headersOf()
  app.get<{ Params: { seq: number } }>(
    '/api/v1/events/:seq',
    {
      schema: {
        params: { type: 'object', properties: { seq: { type: 'integer', minimum: 1 } } },
        response: { 200: event },
      },
    },
    async (request, reply) => {
      const found = events.get(request.params.seq)
      if (found === undefined) return reply.code(404).send()
      reply.headers(headers)
      return found
    },
  )
  await listen(app)
}

/** Fastify with a database: reads the rows of a page and writes them through a schema. */
async function fastifyPostgres(): Promise<void> {
  const app = Fastify({ logger: false })
  const pool = new Pool({ host: socketDirectory, database: 'postgres', user: 'tester', max: 4 })
  // The next question tells of a lost connection.
  pool.on('error', () => undefined)
  const headers = headersOf()
  type Row = Readonly<Record<'seq' | 'at_ms' | 'type' | 'kind' | 'kots' | 'tx', string>> & {
    contest_id: string | null
  }
  app.get<{ Querystring: { after: number; limit: number } }>(
    '/api/v1/events',
    {
      schema: {
        querystring: {
          type: 'object',
          properties: {
            after: { type: 'integer', minimum: 0, default: 0 },
            limit: { type: 'integer', minimum: 1, maximum: 10_000, default: 1_000 },
          },
        },
        response: { 200: page },
      },
    },
    async (request, reply) => {
      const { after, limit } = request.query
      // The name lets the server keep the plan.
      const { rows } = await pool.query<Row>({
        name: 'page',
        text: 'SELECT seq, type, kind, at_ms, contest_id, kots, tx FROM events WHERE seq > $1 ORDER BY seq LIMIT $2',
        values: [after, limit + 1],
      })
      const hasMore = rows.length > limit
      const found = rows.slice(0, limit)
      const scannedTo = Number(found.at(-1)?.seq ?? after)
      reply.headers(headers)
      return {
        events: found.map((row) => ({
          seq: Number(row.seq),
          type: row.type,
          kind: row.kind,
          at: new Date(Number(row.at_ms)).toISOString(),
          atMs: Number(row.at_ms),
          contestId: row.contest_id === null ? null : Number(row.contest_id),
          kots: row.kots,
          tx: row.tx,
        })),
        page: {
          after,
          limit,
          count: found.length,
          scannedTo,
          hasMore,
          next: hasMore ? `/api/v1/events?after=${scannedTo}` : null,
        },
      }
    },
  )
  await listen(app)
}

/** Headers of a route, without those that belong to a single answer. */
function headersOf(): Record<string, string> {
  return Object.fromEntries((prepared[0]?.headers ?? []).filter(([name]) => name !== 'Content-Length'))
}

async function listen(app: ReturnType<typeof Fastify>): Promise<void> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`)
}

if (kind === 'bare') bare()
else if (kind === 'fastify') await fastify()
else await fastifyPostgres()
