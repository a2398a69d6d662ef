/** What is sent to a topic. */
export interface KafkaRecord {
  readonly topic: string
  /** Decides on the partition. Null: any. */
  readonly key: Buffer | null
  readonly value: Buffer
  readonly headers: Readonly<Record<string, Buffer>>
}

/**
 * The way to Kafka, small enough for any client to fit. It has to be set to `acks=all` and `enable.idempotence=true`, so that
 * its own retries add nothing and keep their order, and to give a message up (`message.timeout.ms`) before the transport's
 * time-out: what it sends later is late for everyone.
 */
export interface KafkaProducer {
  /** Fulfils when all replicas in sync have it. Throws `NotSent` (of `counterfoil`) where it proves that nothing went out. */
  send(
    record: KafkaRecord,
  ): Promise<{ readonly partition: number; readonly offset: number | string | bigint }>
  /** Called once, after the last `send`. */
  close(): Promise<void>
}

/** A record as the client gives it. Topic, partition and offset say where it lies; none of them is its identity. */
export interface KafkaReceived {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly key: Buffer | null
  readonly value: Buffer
  readonly headers: Readonly<Record<string, Buffer>>
}

/** A member of a consumer group that commits nothing by itself (`enable.auto.commit=false`, `auto.offset.reset=earliest`). */
export interface KafkaMember {
  /** Those that have come, `most` at most; none after a short wait. Rejects when it is a member no more. */
  poll(most: number): Promise<readonly KafkaReceived[]>
  /** Everything of the partition before `next` is done with. */
  commit(about: { readonly topic: string; readonly partition: number; readonly next: number }): Promise<void>
  leave(): Promise<void>
}
