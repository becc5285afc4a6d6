# The image of Sluice:
#
#   docker build -t sluice .                            compiles everything inside; some minutes
#   docker build -t sluice -f Dockerfile --target prebuilt FOLDER
#                                                       takes FOLDER/sluice, which was built on the same Debian
#
# --build-arg BASE=IMAGE names another place for Debian 12.
#
# The stages stand in this order because engines that cannot skip a stage build all those before the wanted one.
ARG BASE=debian:bookworm-slim

# What the program needs to run; librdkafka is inside the binary.
FROM ${BASE} AS runtime
LABEL org.opencontainers.image.title="Sluice" \
      org.opencontainers.image.description="Exactly-once delivery from Kafka into relational databases" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update -q \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      ca-certificates libcurl4 liblz4-1 libmysqlcppconn7v5 libpqxx-6.4 libsasl2-2 libsimdjson14 libspdlog1.10 libsqlite3-0 libssl3 \
      libstdc++6 libzstd1 zlib1g \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log \
 && useradd --uid 10001 --user-group --no-create-home --home-dir /var/lib/sluice --shell /usr/sbin/nologin sluice \
 && install -d -o sluice -g sluice /var/lib/sluice
# The job's relative paths start here, so that its state lies on the volume without any setting.
WORKDIR /var/lib/sluice
VOLUME /var/lib/sluice
# A number, because Kubernetes cannot see of a name that it is not root.
USER 10001:10001
# Sluice is the first process: it takes SIGTERM itself and commits before it ends.
ENTRYPOINT ["sluice"]
CMD ["--help"]

FROM runtime AS prebuilt
COPY sluice /usr/local/bin/sluice
# A library that is missing shows here, and not where the image is used.
RUN ["sluice", "--version"]

FROM ${BASE} AS build
# The binary alone; the same flags as release, without its tests and benchmarks.
ARG PRESET=demo
WORKDIR /src
# Packages and librdkafka come first, so that a changed source file does not pay for them again.
COPY scripts scripts
RUN bash -c 'for part in common packages librdkafka; do source scripts/lib/$part.sh; done; \
      need_packages "${BUILD_PACKAGES[@]}"; need_librdkafka'
COPY . .
RUN scripts/build "$PRESET" && strip -o /sluice "build/$PRESET/app/sluice"

FROM runtime AS final
COPY --from=build /sluice /usr/local/bin/sluice
RUN ["sluice", "--version"]
