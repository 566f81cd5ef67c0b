import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { JsonSchema } from '../../protocol/schema.ts'
import { type DocumentTerms, licenceOf, NOTICE, SUBJECT, TERMS } from './information.ts'
import { componentSchemas } from './component-schemas.ts'
import { endpointOf } from '../../protocol/endpoints/endpoints.ts'
import { schemaOf } from './openapi-parameters.ts'
import { documentReply, referTo } from './json-document.ts'
import type { RouteReply } from '../http/route.ts'

const HTTP_BINDING = '0.3.0'

/** Reply of `/asyncapi.json`, made once. */
export function asyncapiReply(terms: DocumentTerms): RouteReply {
  return documentReply(asyncapi(terms))
}

/** The AsyncAPI 3.0 document of the stream: its messages in both framings, and its parameters. */
export function asyncapi({ version, licence }: DocumentTerms): JsonSchema {
  const { Event, EventDetails, Position, PositionLine } = componentSchemas()
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'The stream of Daybook',
      version,
      description: `${SUBJECT}. ${TERMS} ${NOTICE} ${ENDPOINT_PATHS.openapi} describes the rest.`,
      ...licenceOf(licence),
    },
    defaultContentType: 'application/json',
    servers: {
      here: {
        host: '{host}',
        protocol: 'http',
        description: 'The service that sent this document',
        variables: { host: { default: '127.0.0.1:8080', description: 'Its host and port' } },
      },
    },
    channels: { events: SSE_CHANNEL, lines: NDJSON_CHANNEL },
    operations: {
      sendEvents: operation('events', 'Server-Sent Events, which a browser reads with EventSource'),
      sendLines: operation('lines', 'JSON lines with the same content, for `Accept: application/x-ndjson`'),
    },
    components: {
      schemas: { Event, EventDetails, Position, PositionLine },
      messages: MESSAGES,
    },
  }
}

const ID: JsonSchema = {
  type: 'string',
  pattern: '^(?:0|[1-9][0-9]*)$',
  description: 'A seq. Resume after it',
}

/** Messages of both framings. */
const MESSAGES: JsonSchema = {
  event: messageOf(
    'An event',
    'The exact line of an event, with its seq as `id`. Events come once, in order and without gaps',
    'Event',
    { id: ID },
  ),
  details: messageOf(
    'Details',
    'With `details=1`: the details of the next event, when it has some. It has no `id`',
    'EventDetails',
    { event: { type: 'string', const: 'details', description: 'Type of the message' } },
  ),
  position: messageOf(
    'A position',
    'Heartbeat and cursor: a message of type `position` with the last seq scanned as `id`',
    'Position',
    {
      id: ID,
      event: { type: 'string', const: 'position', description: 'Type of the message; events have none' },
    },
  ),
  eventLine: messageOf(
    'An event as a line',
    'The exact line of an event. Events come once, in order and without gaps',
    'Event',
  ),
  detailsLine: messageOf(
    'Details as a line',
    'With `details=1`: the details of the next event, when it has some',
    'EventDetails',
  ),
  positionLine: messageOf(
    'A position as a line',
    'Heartbeat and cursor: `seq` is the last seq scanned',
    'PositionLine',
  ),
}

/** A message with its payload; in Server-Sent Events it has further fields. */
function messageOf(title: string, summary: string, payload: string, fields?: JsonSchema): JsonSchema {
  const headers = {
    type: 'object',
    description: 'Fields of the message',
    properties: fields,
    required: Object.keys(fields ?? {}),
  }
  return {
    title,
    summary,
    contentType: 'application/json',
    ...(fields === undefined ? {} : { headers }),
    payload: referTo(payload),
  }
}

const message = (name: string): JsonSchema => ({ $ref: `#/components/messages/${name}` })

const SSE_CHANNEL: JsonSchema = {
  address: ENDPOINT_PATHS.stream,
  description:
    'Server-Sent Events. Without a cursor it starts live at the head; `after=0` starts with the first event; ' +
    '`Last-Event-ID` takes precedence over `lastEventId`, and both over `after`. It ends after about half an hour: reconnect with the last `id`.',
  messages: { event: message('event'), details: message('details'), position: message('position') },
}

const NDJSON_CHANNEL: JsonSchema = {
  address: ENDPOINT_PATHS.stream,
  description: 'JSON lines: an event is its line and a position is `{"position":{…}}`.',
  messages: {
    event: message('eventLine'),
    details: message('detailsLine'),
    position: message('positionLine'),
  },
}

function operation(channel: string, summary: string): JsonSchema {
  const { parameters, meaning } = endpointOf('stream')
  const query = Object.fromEntries(
    parameters.map(({ name, form, meaning: of, absent }) => [
      name,
      { ...schemaOf(form).schema, description: `${of}. When absent: ${absent}.` },
    ]),
  )
  return {
    action: 'send',
    channel: { $ref: `#/channels/${channel}` },
    summary,
    description: meaning,
    bindings: {
      http: { method: 'GET', query: { type: 'object', properties: query }, bindingVersion: HTTP_BINDING },
    },
  }
}
