# The image has Node, the libraries of Debian that Node loads, and Daybook. It has no shell and no package manager.
FROM node:26.10.0-bookworm AS build

# Beside the libraries: their licences, and the descriptions in which a scanner finds their versions.
RUN mkdir --parents /libraries/etc /libraries/usr/lib /libraries/usr/local/bin /libraries/usr/share/doc/node \
    /libraries/var/lib/dpkg/status.d /libraries/dev /libraries/proc /libraries/sys /libraries/tmp \
  && cp /usr/local/bin/node /libraries/usr/local/bin \
  && cp /usr/local/LICENSE /libraries/usr/share/doc/node/copyright \
  && ldd /usr/local/bin/node | grep --only-matching '/[^ ]*' | xargs cp --parents --dereference --target-directory /libraries \
  && for package in base-files gcc-12-base libatomic1 libc6 libgcc-s1 libstdc++6; do \
    dpkg --status "$package" > "/libraries/var/lib/dpkg/status.d/$package" \
    && cp --parents --dereference "/usr/share/doc/$package/copyright" /libraries || exit 1; \
  done \
  && cp --archive /usr/share/common-licenses /libraries/usr/share \
  && cp --archive /usr/lib/os-release /libraries/usr/lib \
  && cp --archive /etc/debian_version /etc/os-release /libraries/etc \
  && printf 'root:x:0:0::/:\ndaybook:x:65532:65532::/data:\n' > /libraries/etc/passwd \
  && printf 'root:x:0:\ndaybook:x:65532:\n' > /libraries/etc/group \
  && printf 'hosts: files dns\n' > /libraries/etc/nsswitch.conf

# npm checks every package against package-lock.json, and none runs a script.
WORKDIR /build
COPY package.json package-lock.json ./
RUN mkdir --parents /daybook/opt/daybook /daybook/usr/local/bin \
  && npm ci --no-audit --no-fund --ignore-scripts --omit=dev --omit=optional \
  && rm -r node_modules/.bin node_modules/.package-lock.json \
  && mv node_modules /daybook/opt/daybook \
  && npm ci --no-audit --no-fund --ignore-scripts

# A running service reads no types, no source maps and no documents.
COPY . .
RUN npm pack --silent \
  && tar --extract --file daybook-*.tgz --directory /daybook/opt/daybook --strip-components=1 \
    --exclude=package/docs --exclude=package/ops --exclude=package/compose.yaml \
  && find /daybook -type f -regex '.*\.\([cm]?tsx?\|map\|md\)' ! -iname 'licen[cs]e*' -delete \
  && printf '#!/usr/local/bin/node\nrequire("/opt/daybook/package/start.cjs")\n' > /daybook/usr/local/bin/daybook \
  && cp package/image/daybook-ready.cjs /daybook/usr/local/bin/daybook-ready \
  && chmod --recursive u=rwX,go=rX /daybook \
  && chmod 755 /daybook/usr/local/bin/* \
  && mkdir --parents --mode=775 /volume/data

FROM scratch
ARG REVISION=unknown
LABEL org.opencontainers.image.title="daybook" \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.licenses="MIT AND LGPL-2.1-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1"
COPY --from=build /libraries/ /
COPY --from=build /daybook/ /
# Any user may run the image: an orchestrator that chooses the user leaves the group at 0.
COPY --from=build --chown=65532:0 /volume/ /
# The signing key of /data/log is /data/log.key, so the volume keeps both.
ENV PATH=/usr/local/bin \
  NODE_ENV=production \
  DAYBOOK_DATA=/data/log \
  DAYBOOK_HOST=0.0.0.0 \
  DAYBOOK_PUBLISH_HOST=0.0.0.0
USER 65532:65532
# SQLite writes its temporary files here: no other folder can be written.
WORKDIR /data
VOLUME /data
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["/usr/local/bin/daybook-ready"]
ENTRYPOINT ["/usr/local/bin/daybook"]
CMD ["serve"]
