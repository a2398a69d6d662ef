# A server with a configuration: put yours, its package.json and its lock beside this file, or build in a project that
# `counterfoil init` made. Two stages, so that npm and its cache stay out of what runs.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json* ./
RUN npm install --omit=dev --no-audit --no-fund

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json counterfoil.config.* ./
RUN useradd --uid 10001 --no-create-home counterfoil && install -d -o counterfoil /data
USER counterfoil
VOLUME /data
EXPOSE 4840
# A public bind needs COUNTERFOIL_OPERATOR_TOKEN; the vault's key comes from COUNTERFOIL_VAULT_KEYS.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4840/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# Not through npm, which would not pass the signal on.
CMD ["node", "node_modules/counterfoil/bin/counterfoil.js", "serve", "--host", "0.0.0.0"]
