# The image for those who have Docker. `npm run image` makes the same one without a daemon, byte for byte the same each
# time. test/image/dockerfile.test.ts compares the two.
FROM node:26.10.0-bookworm AS build
WORKDIR /build
COPY . .
# npm ci checks every package against package-lock.json, and apt every library against Debian's signatures.
RUN npm ci --no-audit --no-fund --ignore-scripts \
  && node package/image/build.ts --root /image --newest-libraries \
  && mkdir --parents /volume \
  && mv /image/data /volume/data \
  && chmod 775 /volume/data

FROM scratch
ARG REVISION=unknown
LABEL org.opencontainers.image.title="daybook" \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.licenses="MIT AND LGPL-2.1-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1"
COPY --from=build /image/ /
# Any user may run the image: an orchestrator that chooses the user leaves the group at 0.
COPY --from=build --chown=65532:0 /volume/ /
ENV PATH=/usr/local/bin \
  NODE_ENV=production \
  DAYBOOK_DATA=/data/log \
  DAYBOOK_HOST=0.0.0.0 \
  DAYBOOK_PUBLISH_HOST=0.0.0.0
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["/usr/local/bin/daybook-ready"]
ENTRYPOINT ["/usr/local/bin/daybook"]
CMD ["serve"]
