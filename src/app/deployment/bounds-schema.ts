import { boolean, closed, duration, integer, list, listOr, oneOf, open, type Schema, text } from "../../text/schema.ts";
import {
  actionName,
  actions,
  count,
  full,
  noneOrDuration,
  rate,
  secretHere,
  size,
  texts,
  values,
} from "./schema-terms.ts";

export function policy(): Schema {
  const rule = closed({
    max: count({ description: "Most calls in one execution of a step." }),
    fix: values({ description: "Inputs that the engine supplies; the agent does not see them." }),
  });
  return closed(
    {
      deny: actions({ description: "Actions that nobody may call." }),
      approve: actions({ description: "Actions that a person is asked about first." }),
      agents: open(open(rule, actionName({ examples: ["crm.tag"] })), null, {
        description: "What agents of a name may do with an action.",
      }),
      ceiling: closed(
        {
          tool_attempts: integer({ min: 0 }),
          tokens: integer({ min: 0 }),
          duration: duration(),
          depth: integer({ min: 0 }),
          width: count(),
        },
        [],
        { description: "A plan whose proved bound is higher is refused." },
      ),
    },
    [],
    { description: "What the operator allows." },
  );
}

export function limits(): Schema {
  return closed(
    {
      deadline: duration({ description: "Of a run, without the time it is parked; 1h by default." }),
      steps: integer({ min: 1, max: 1_000_000 }, { description: "Executions of steps in a run; 10000 by default." }),
      depth: integer({ min: 0, max: 64 }, { description: "Files below each other by wf.call; 4 by default." }),
      wait: duration({ description: "Of one wf.wait or open question; 30d by default." }),
      concurrency: integer({ min: 1, max: 1_000 }, { description: "Things at once in one construct; 8 by default." }),
      drain_grace: duration({ description: "For what is under way after a stop; 5s by default." }),
      cleanup_grace: duration({ description: "For each cleanup list; 10s by default." }),
    },
    [],
    { description: "Bounds of every run." },
  );
}

export function sandbox(): Schema {
  return closed(
    {
      languages: list(oneOf(["python", "javascript"])),
      require_os_layer: boolean(),
      private_hosts: texts(),
      memory: closed({ python: size(), javascript: size() }),
      result: size(),
      fetch: closed({ at_once: count(), calls: integer({ min: 0 }), bytes: size() }),
    },
    [],
    { description: "Bounds of code steps." },
  );
}

export function coordinate(): Schema {
  return closed(
    {
      entry: closed({ library: texts(), cli: texts(), http: texts(), mcp: texts() }),
      allow: open(list({})),
      depth: count(),
      children: count(),
      group: count(),
      deadline: duration(),
      max_deadline: duration(),
      concurrent: count(),
      drain_grace: duration(),
      cleanup_grace: duration(),
    },
    [],
    { description: "Bounds of bounded requests; they may only be lowered." },
  );
}

export function awl(): Schema {
  return closed(
    {
      tools: listOr(texts(), oneOf(["all"])),
      max_steps: count(),
      max_tool_calls: integer({ min: 0 }),
      stall: duration(),
      goal_interval: noneOrDuration({}),
    },
    [],
    { description: "Bounds of AWL scripts." },
  );
}

export function serve(): Schema {
  return closed(
    {
      host: full(),
      port: integer({ min: 0, max: 65_535 }),
      auth_token_file: full(),
      public_url: full(),
      webhook_secret: secretHere(),
      webhooks: open(
        closed({ secret: secretHere(), header: full(), delivery: full() }, ["secret"]),
        text({ examples: ["/triage"] }, "^/", "A webhook path begins with /."),
      ),
      body_limit: size(),
      rate: rate(),
    },
    [],
    { description: "The HTTP server." },
  );
}
