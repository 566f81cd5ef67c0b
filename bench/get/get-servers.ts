import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import Fastify from 'fastify'
import { Pool } from 'pg'
import type { Prepared } from './get-peers.ts'

// Peers that run on Node, each in its own process. Arguments: `bare`, `fastify` or `fastify-postgres`, the file of prepared
// answers, and the directory of PostgreSQL's socket. Says on which port it listens.

const [kind = '', file = '', socketDirectory = ''] = process.argv.slice(2)
const prepared: readonly Prepared[] = JSON.parse(readFileSync(file, 'utf8'))
/** Headers of a route, without those that belong to a single answer. */
const headers = Object.fromEntries((prepared[0]?.headers ?? []).filter(([name]) => name !== 'Content-Length'))

const text = { type: ['string', 'null'] } as const
const integer = { type: 'integer' } as const
const event = {
  type: 'object',
  properties: {
    seq: integer,
    type: text,
    kind: text,
    at: text,
    atMs: integer,
    contestId: { type: ['integer', 'null'] },
    kots: text,
    tx: text,
  },
} as const
const page = {
  type: 'object',
  properties: {
    events: { type: 'array', items: event },
    page: {
      type: 'object',
      properties: {
        after: integer,
        limit: integer,
        count: integer,
        scannedTo: integer,
        hasMore: { type: 'boolean' },
        next: text,
      },
    },
  },
} as const

/** Looks up bytes and headers and writes them: the least that node:http can do. */
async function bare(): Promise<void> {
  const answers = new Map(
    prepared.map((one) => [one.path, { headers: one.headers.flat(), body: Buffer.from(one.body) }]),
  )
  const server = createServer((request, response) => {
    const answer = answers.get(request.url ?? '')
    if (answer === undefined) response.writeHead(404).end()
    else response.writeHead(200, answer.headers).end(answer.body)
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('a listening server has a port')
    process.stdout.write(`http://127.0.0.1:${address.port}\n`)
  })
}

/** Route as in Fastify's documentation: schemas, an object in memory, and headers of the route. */
async function fastify(): Promise<void> {
  const app = Fastify({ logger: false })
  const events = new Map(
    prepared.map(({ body }) => JSON.parse(body) as { seq: number }).map((one) => [one.seq, one]),
  )
  const params = { type: 'object', properties: { seq: { type: 'integer', minimum: 1 } } }
  app.get<{ Params: { seq: number } }>(
    '/api/v1/events/:seq',
    { schema: { params, response: { 200: event } } },
    async (request, reply) => {
      const found = events.get(request.params.seq)
      return found === undefined ? reply.code(404).send() : reply.headers(headers).send(found)
    },
  )
  process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`)
}

type Row = Readonly<Record<'seq' | 'at_ms' | 'type' | 'kind' | 'kots' | 'tx', string>> & {
  contest_id: string | null
}

/** Fastify with a database: reads the rows of a page and writes them through a schema. */
async function fastifyPostgres(): Promise<void> {
  const app = Fastify({ logger: false })
  const pool = new Pool({ host: socketDirectory, database: 'postgres', user: 'tester', max: 4 })
  // The next question tells of a lost connection.
  pool.on('error', () => undefined)
  const querystring = {
    type: 'object',
    properties: {
      after: { type: 'integer', minimum: 0, default: 0 },
      limit: { type: 'integer', minimum: 1, maximum: 10_000, default: 1_000 },
    },
  }
  app.get<{ Querystring: { after: number; limit: number } }>(
    '/api/v1/events',
    { schema: { querystring, response: { 200: page } } },
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
  process.stdout.write(`${await app.listen({ port: 0, host: '127.0.0.1' })}\n`)
}

if (kind === 'bare') await bare()
else if (kind === 'fastify') await fastify()
else await fastifyPostgres()
